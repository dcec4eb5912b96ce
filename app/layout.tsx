import '@mantine/core/styles.layer.css'
import './globals.css'
// On every page: of its own, Next would preload what the not-found page wears and warn that none uses it.
import '../components/shell/brand.module.css'
import '../components/shell/color-scheme.module.css'
import '../components/shell/frame.module.css'
import { ColorSchemeScript, mantineHtmlProps } from '@mantine/core'
import type { Metadata, Viewport } from 'next'
import type { ReactNode } from 'react'
import { Look } from '#components/shell/look'
import { nonce } from './nonce'

export const metadata: Metadata = {
  title: { default: 'Switchboard', template: '%s · Switchboard' },
  description: 'A durable todo queue for AI agents and background workers.',
  robots: { index: false, follow: false },
}

export const viewport: Viewport = { colorScheme: 'light dark' }

export default async function Layout({ children }: { children: ReactNode }) {
  const own = await nonce()
  return (
    <html lang="en" {...mantineHtmlProps}>
      <head>
        <ColorSchemeScript defaultColorScheme="auto" nonce={own} />
      </head>
      <body>
        <Look nonce={own}>{children}</Look>
      </body>
    </html>
  )
}
