'use client'

import styles from './frame.module.css'
import { Notice } from './notice'

/** What stands in place of a page that could not be shown. */
export function PageFailure({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return (
    <Notice title="This page could not be shown">
      The queue goes on without it.{' '}
      {error.digest && `The log of the web process has the cause under digest ${error.digest}.`}{' '}
      {/* Every page carries this one: Mantine's button would cost each of them 8 kB. */}
      <button type="button" className={styles.again} onClick={reset}>
        Try again
      </button>
    </Notice>
  )
}
