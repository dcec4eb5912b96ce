'use client'

import { useEffect, useState } from 'react'
import { useStreamStatus } from '#lib/query/use-stream-status'
import styles from './lost-banner.module.css'

const PATIENCE_MS = 5000

/** Says, when the stream has been gone for five seconds, that the page may be behind; and when the person is signed out. */
export function LostBanner() {
  const status = useStreamStatus()
  const lostSince = status.kind === 'lost' ? status.since : null
  const isLong = useIsLong(lostSince)
  const isOut = status.kind === 'signed-out'
  return (
    <div className={styles.place} role="status">
      {isOut && (
        <p className={styles.banner}>
          You are signed out. What you see is as it was.{' '}
          <a href="/sign-in" onClick={(event) => comeBack(event.currentTarget)}>
            Sign in again
          </a>
        </p>
      )}
      {isLong && (
        <p className={styles.banner}>
          The live connection is lost: what you see may be behind. It catches up by itself.
        </p>
      )}
    </div>
  )
}

function useIsLong(since: number | null): boolean {
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    if (since === null) return
    const timer = setTimeout(() => setLong(true), Math.max(0, since + PATIENCE_MS - Date.now()))
    return () => {
      clearTimeout(timer)
      setLong(false)
    }
  }, [since])
  return isLong
}

function comeBack(link: HTMLAnchorElement): void {
  const { pathname, search } = window.location
  link.href = `/sign-in?next=${encodeURIComponent(pathname + search)}`
}
