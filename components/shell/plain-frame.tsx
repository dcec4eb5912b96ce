import type { ReactNode } from 'react'
import { Brand } from './brand'
import { ColorScheme } from './color-scheme'
import styles from './frame.module.css'

/** The frame of pages that are for all: the name, one thing in the middle, and the colours. */
export function PlainFrame({ children }: { children: ReactNode }) {
  return (
    <div className={styles.plain}>
      <header className={styles.plainHead}>
        <Brand />
        <ColorScheme />
      </header>
      <main className={styles.plainContent}>{children}</main>
    </div>
  )
}
