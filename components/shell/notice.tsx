import Link from 'next/link'
import type { ReactNode } from 'react'
import styles from './notice.module.css'

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
      <div className={styles.text}>{children}</div>
      {hasWayHome && (
        <p>
          <Link href="/">Go to the first page</Link>
        </p>
      )}
    </div>
  )
}
