'use client'

import { Button, Skeleton } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { eventsOf } from '#lib/query/todos'
import { useNow } from '#lib/query/use-now'
import type { Attempt } from '#lib/wire/todo'
import { RelativeTime } from '../shell/relative-time'
import { timeSpan } from '../shell/time-span'
import { Untrusted } from '../shell/untrusted'
import { Heading } from './heading'
import { type Lane, lanesOf } from './lanes'
import styles from './timeline.module.css'
import { TimelineEvent } from './timeline-event'
import { BECAME, ENDED, toneOfOutcome } from './words'

const PAGES_AT_ONCE = 5

interface TimelineProps {
  id: string
  attempts: readonly Attempt[]
  /** Whether its worker must be heard of now; while a question is open its lease rests. */
  isBeating: boolean
}

/** What happened to a todo, the latest first: its attempts as lanes, and between them what nobody held it for. */
export function Timeline({ id, attempts, isBeating }: TimelineProps) {
  const { data, isPending, isError, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery(
    eventsOf(id),
  )
  const pages = data?.pages.length ?? 0
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && pages < PAGES_AT_ONCE) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, pages, fetchNextPage])
  const lanes = useMemo(() => {
    const events = data?.pages.flatMap((page) => page.events) ?? []
    return lanesOf(attempts, events).reverse()
  }, [attempts, data])

  if (isPending) return <Skeleton height={160} />
  if (isError && !data) {
    return (
      <p className={styles.note}>
        The history could not be loaded.{' '}
        <Button variant="default" size="compact-xs" onClick={() => void refetch()}>
          Try again
        </Button>
      </p>
    )
  }
  return (
    <>
      {hasNextPage && pages >= PAGES_AT_ONCE && (
        <p className={styles.note}>
          The history goes on after these {lanes.length} stretches.{' '}
          <Button variant="default" size="compact-xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Load what is newer
          </Button>
        </p>
      )}
      <ol className={styles.lanes}>
        {lanes.map((lane) => (
          <li
            key={lane.key}
            className={styles.lane}
            data-tone={lane.attempt ? toneOfOutcome(lane.attempt.outcome) : undefined}
          >
            {lane.attempt && <AttemptHead attempt={lane.attempt} isBeating={isBeating} />}
            {lane.attempt?.error && <AttemptError error={lane.attempt.error} />}
            <Events lane={lane} />
          </li>
        ))}
      </ol>
    </>
  )
}

function AttemptHead({ attempt, isBeating }: { attempt: Attempt; isBeating: boolean }) {
  const { seq, owner, outcome, disposition } = attempt
  return (
    <header className={styles.attempt}>
      <Heading below={1} className={styles.name}>
        Attempt {seq}
      </Heading>
      <span className={styles.owner}>
        <Untrusted text={owner} />
      </span>
      <span className={styles.outcome}>
        {outcome === null ? 'under way' : ENDED[outcome]}
        {disposition && outcome !== 'completed' && `, ${BECAME[disposition]}`}
      </span>
      <Heartbeat attempt={attempt} isBeating={isBeating} />
    </header>
  )
}

/** When the worker was heard of last, and how long it has been silent; for an ended attempt, how long it was before the end. */
function Heartbeat({ attempt, isBeating }: { attempt: Attempt; isBeating: boolean }) {
  const { last_heartbeat_at: at, ended_at: endedAt } = attempt
  return (
    <span className={styles.heartbeat}>
      last heartbeat <RelativeTime at={at} />
      {!hasLetGo(attempt) && <Silence at={at} endedAt={endedAt} isBeating={isBeating} />}
    </span>
  )
}

// Between letting go and going on there was nobody to be silent.
const hasLetGo = ({ outcome }: Attempt): boolean => outcome === 'continued' || outcome === 'expired'

function Silence({ at, endedAt, isBeating }: { at: string; endedAt: string | null; isBeating: boolean }) {
  const now = useNow()
  if (endedAt) return `, silent for ${timeSpan((Date.parse(endedAt) - Date.parse(at)) / 1000)} when it ended`
  if (!isBeating) return ', its lease rests while it waits'
  return now === null ? null : `, silent for ${timeSpan(now - Date.parse(at) / 1000)}`
}

/** What went wrong, in the words of whoever ended the attempt. */
function AttemptError({ error }: { error: NonNullable<Attempt['error']> }) {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return (
    <p className={styles.error}>
      <strong>
        <Untrusted text={String(code ?? 'error')} />
      </strong>
      {message !== undefined && (
        <>
          : <Untrusted text={String(message)} />
        </>
      )}
    </p>
  )
}

function Events({ lane }: { lane: Lane }) {
  if (lane.events.length === 0) return <p className={styles.note}>Its events are not kept any more.</p>
  return (
    <ol className={styles.events}>
      {[...lane.events].reverse().map((event) => (
        <TimelineEvent key={event.id} event={event} />
      ))}
    </ol>
  )
}
