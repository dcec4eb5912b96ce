'use client'

import { useNow } from '#lib/query/use-now'
import { timeLeft, timeSpan } from './time-span'

let format: Intl.DateTimeFormat | undefined

/** A time in the reader's own zone, which it names. Only for the browser: the server knows no reader. */
function absoluteTime(at: string): string {
  format ??= new Intl.DateTimeFormat(undefined, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  })
  return format.format(new Date(at))
}

/** How long ago, or how soon, by the server's clock: 12 m ago, in 3 h 5 m. */
export function relative(at: string, now: number): string {
  const ahead = Math.floor(Date.parse(at) / 1000) - now
  if (ahead > 0) return `in ${timeLeft(ahead)}`
  return ahead > -3 ? 'just now' : `${timeSpan(-ahead)} ago`
}

/**
 * A time as people say it, ticking, with the absolute one behind it. Rendered by the server it is absolute and in UTC, so
 * that the browser, wherever it is, begins with the same text.
 */
export function RelativeTime({ at, className }: { at: string; className?: string }) {
  const now = useNow()
  return (
    <time dateTime={at} className={className} title={now === null ? undefined : absoluteTime(at)}>
      {now === null ? `${at.slice(0, 16).replace('T', ' ')} UTC` : relative(at, now)}
    </time>
  )
}
