import Link from 'next/link'
import type { ReactNode } from 'react'
// Of its own, Next would preload the style sheet on every page and warn that none uses it.
import styles from './frame.module.css'

/** A page that has only one thing to say, with the way back. */
export function Notice({
  title,
  children,
  hasWayHome = true,
}: {
  title: string
  children: ReactNode
  hasWayHome?: boolean
}) {
  return (
    <div className={styles.notice}>
      <h1>{title}</h1>
      <div className={styles.noticeText}>{children}</div>
      {hasWayHome && (
        <p>
          <Link href="/">Go to the first page</Link>
        </p>
      )}
    </div>
  )
}
