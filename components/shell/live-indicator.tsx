'use client'

import { tryNow } from '#lib/query/stream'
import type { StreamStatus } from '#lib/query/stream-status'
import { useNow } from '#lib/query/use-now'
import { useLastFactAt, useStreamStatus } from '#lib/query/use-stream-status'
import { LinkButton } from './link-button'
import styles from './live-indicator.module.css'
import { relative } from './relative-time'
import { timeSpan } from './time-span'

const LABELS: Record<StreamStatus['kind'], string> = {
  connecting: 'Connecting',
  live: 'Live',
  'catching-up': 'Catching up',
  lost: 'Not live',
  'signed-out': 'Signed out',
}

/** Whether what the page shows is as it is now, and if not, since when and what is done about it. */
export function LiveIndicator() {
  const status = useStreamStatus()
  return (
    <div className={styles.indicator} data-status={status.kind}>
      <span className={styles.dot} aria-hidden />
      <span className={styles.text}>
        <span className={styles.label} role="status">
          {LABELS[status.kind]}
        </span>
        <Fact status={status} />
      </span>
    </div>
  )
}

function Fact({ status }: { status: StreamStatus }) {
  const now = useNow()
  const lastFactAt = useLastFactAt()
  if (status.kind === 'live') {
    return lastFactAt && now !== null ? (
      <span className={styles.fact}>{`last event ${relative(lastFactAt, now)}`}</span>
    ) : null
  }
  if (status.kind === 'lost' && now !== null) return <Loss {...status} />
  return null
}

// By this machine's clock, as the status is; the server's clock does the ticking.
function Loss({ since, retryAt }: { since: number; retryAt: number | null }) {
  const wait =
    retryAt === null ? 'trying now' : `next try in ${Math.max(0, Math.ceil((retryAt - Date.now()) / 1000))} s`
  return (
    <span className={styles.fact}>
      for {timeSpan((Date.now() - since) / 1000)}, {wait}{' '}
      {retryAt !== null && <LinkButton onClick={tryNow}>Try now</LinkButton>}
    </span>
  )
}
