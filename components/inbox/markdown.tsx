import { type ReactNode, useMemo } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import rehypeSanitize from 'rehype-sanitize'
import { shown } from '../shell/untrusted'
import { httpsAddress } from './https-address'
import styles from './markdown.module.css'

const PLUGINS = [rehypeSanitize]

// The page has two headings above it already.
const COMPONENTS: Components = {
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h4>{children}</h4>,
  h3: ({ children }) => <h5>{children}</h5>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
  a: ({ href, children }) => <Outside href={href}>{children}</Outside>,
  // Fetching it would tell its author who reads, and from where.
  img: ({ src, alt }) => <Outside href={typeof src === 'string' ? src : undefined}>{alt || 'picture'}</Outside>,
}

/** An agent's Markdown: sanitised, with characters shown that hide or deceive, and https links that open elsewhere. */
export function Markdown({ text }: { text: string }) {
  const source = useMemo(() => shown(text.replaceAll('\r\n', '\n')), [text])
  return (
    <div className={styles.markdown} dir="auto">
      <ReactMarkdown rehypePlugins={PLUGINS} components={COMPONENTS} urlTransform={https}>
        {source}
      </ReactMarkdown>
    </div>
  )
}

const https = (url: string): string => httpsAddress(url)?.href ?? ''

function Outside({ href, children }: { href: string | undefined; children: ReactNode }) {
  const address = httpsAddress(href)
  if (!address) return <span>{children}</span>
  return (
    <a href={address.href} target="_blank" rel="noopener noreferrer nofollow" title={address.href}>
      {children}
    </a>
  )
}
