'use client'

import { Anchor } from '@mantine/core'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { ColorScheme } from './color-scheme'
import { PAGES } from './pages'
import styles from './rail.module.css'

/** What stands in the rail, and in its place on a narrow screen: the pages, then what belongs to all of them. */
export function Rail({ version }: { version: string }) {
  const path = usePathname()
  return (
    <>
      <nav aria-label="Pages">
        <ul className={styles.pages}>
          {PAGES.map(({ href, label, Icon }) => (
            <li key={href}>
              <Link href={href} className={styles.page} {...(path === href ? { 'aria-current': 'page' } : {})}>
                <Icon size={18} stroke={1.75} aria-hidden />
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className={styles.foot}>
        {/* Not a page of this app: the web process answers it, also to those who are not signed in. */}
        <Anchor href="/docs" className={styles.reference}>
          API reference
        </Anchor>
        <ColorScheme />
        <span className={styles.version}>Version {version}</span>
      </div>
    </>
  )
}
