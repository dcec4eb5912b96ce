'use client'

import { Anchor } from '@mantine/core'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { ColorScheme } from './color-scheme'
import { LiveIndicator } from './live-indicator'
import { OpenPrompts } from './open-prompts'
import { isUnder, pagesFor } from './pages'
import { type Person, PersonCard } from './person-card'
import styles from './rail.module.css'

/** What stands in the rail, and in its place on a narrow screen: the pages, then what belongs to all of them. */
export function Rail({ person, version }: { person: Person; version: string }) {
  const path = usePathname()
  return (
    <>
      <nav aria-label="Pages">
        <ul className={styles.pages}>
          {pagesFor(person.role).map((page) => (
            <li key={page.href}>
              <Link
                href={page.href}
                className={styles.page}
                aria-current={isUnder(path, page) ? 'page' : undefined}
                aria-keyshortcuts={`g ${page.key}`}
              >
                <page.Icon size={18} stroke={1.75} aria-hidden />
                {page.label}
                {page.countsPrompts && (
                  <span className={styles.count}>
                    <OpenPrompts />
                  </span>
                )}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className={styles.foot}>
        <LiveIndicator />
        <div className={styles.row}>
          <ColorScheme />
          <span className={styles.version}>
            {/* Not a page of this app: the web process answers it, also to those who are not signed in. */}
            <Anchor href="/docs" className={styles.reference} title={`Version ${version}`}>
              API
            </Anchor>
          </span>
        </div>
        <PersonCard person={person} />
      </div>
    </>
  )
}
