'use client'

import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isTerminal } from '#lib/model/states'
import type { Detail } from '#lib/query/cache'
import { promptOf } from '#lib/query/interrupts'
import { useNow } from '#lib/query/use-now'
import type { Todo } from '#lib/wire/todo'
import { Pips } from '../board/pips'
import { waitEnd } from '../inbox/wait-end'
import { timeLeft, timeSpan } from '../shell/time-span'
import { Untrusted } from '../shell/untrusted'
import styles from './standing.module.css'

/** In one sentence: what the todo waits for, or how it ended and why. */
export function Standing({ detail }: { detail: Detail }) {
  const { todo } = detail
  const now = useNow() ?? Math.floor(Date.parse(todo.state_since) / 1000)
  const spent = todo.failures + todo.lease_expirations
  return (
    <div className={styles.standing} data-failed={todo.state === 'failed' || undefined}>
      <p className={styles.sentence}>
        <Sentence detail={detail} now={now} />
      </p>
      {spent > 0 && (
        <p className={styles.spent}>
          <Pips spent={spent} of={todo.max_attempts} />
          {spentText(todo)}
        </p>
      )}
    </div>
  )
}

function spentText({ failures, lease_expirations, max_attempts }: Todo): string {
  const parts = [
    failures > 0 && `${failures} failed`,
    lease_expirations > 0 && `${lease_expirations} taken back from its worker`,
  ]
  return `${failures + lease_expirations} of ${max_attempts} spent: ${parts.filter(Boolean).join(', ')}`
}

const secondsUntil = (at: string, now: number): number => Math.floor(Date.parse(at) / 1000) - now

function Sentence({ detail, now }: { detail: Detail; now: number }): ReactNode {
  const { todo } = detail
  switch (todo.state) {
    case 'pending':
      return <Pending todo={todo} now={now} />
    case 'claimed': {
      const left = todo.lease_expires_at ? secondsUntil(todo.lease_expires_at, now) : 0
      return (
        <>
          <Owner todo={todo} /> has it.{' '}
          {left > 0
            ? `Without another heartbeat its lease ends in ${timeLeft(left)}.`
            : `Its lease lapsed ${timeSpan(-left)} ago; the next sweep takes the todo back, unless the worker is heard of before.`}
        </>
      )
    }
    case 'input-required':
    case 'auth-required':
      return <Asking detail={detail} now={now} />
    case 'waiting':
      return `It waits for ${todo.live_children === 1 ? 'its live child' : `its ${todo.live_children} live children`} to end.`
    case 'completed':
      return (
        <>
          Done in attempt {todo.attempts}
          {todo.claimed_at &&
            todo.completed_at &&
            `, ${tookText(todo.claimed_at, todo.completed_at)} after it was claimed`}
          .
        </>
      )
    case 'failed':
      return todo.error ? <Failure todo={todo} /> : 'It failed, and nothing more was said.'
    default:
      return 'It has ended. Its history has who ended it, and why if that was said.'
  }
}

const tookText = (from: string, to: string): string => timeSpan((Date.parse(to) - Date.parse(from)) / 1000)

const Owner = ({ todo }: { todo: Todo }) => (
  <>
    Worker <Untrusted text={todo.owner ?? 'unknown'} />
  </>
)

function Pending({ todo, now }: { todo: Todo; now: number }) {
  const due = secondsUntil(todo.available_at, now)
  const who = todo.assignee ? `worker of ${todo.assignee}` : `worker of queue ${todo.queue}`
  return due > 0
    ? `Due in ${timeLeft(due)}; then it waits for a ${who}.`
    : `Ready for ${timeSpan(-due)}; it waits for a ${who}.`
}

function Failure({ todo: { error } }: { todo: Todo }) {
  return (
    error && (
      <>
        <strong>
          <Untrusted text={error.code} />
        </strong>
        : <Untrusted text={error.message} />
      </>
    )
  )
}

const WAITED_FOR = { input: 'an answer to', auth: 'somebody to sign in:', approval: 'an approval:' } as const

function Asking({ detail: { todo, interrupts }, now }: { detail: Detail; now: number }) {
  const id = todo.open_interrupt_id
  const { data } = useQuery({ ...promptOf(id ?? ''), enabled: id !== null && !isTerminal(todo.state) })
  const asked = interrupts.find((one) => one.id === id)
  const expiresAt = data?.interrupt.expires_at
  return (
    <>
      {todo.owner ? <Owner todo={todo} /> : 'Parked, held by nobody: it'} waits for{' '}
      {asked ? WAITED_FOR[asked.kind] : 'an answer'}
      {asked && (
        <>
          {' '}
          <q>{<Untrusted text={asked.title} />}</q>
        </>
      )}
      . {data && deadlineText(todo, expiresAt ?? null, now)}
    </>
  )
}

function deadlineText(todo: Todo, expiresAt: string | null, now: number): string {
  if (expiresAt === null) return 'It waits without limit.'
  const left = secondsUntil(expiresAt, now)
  const { isFinal, spent, of } = waitEnd(todo)
  const when = left > 0 ? `If nobody answers in ${timeLeft(left)}` : 'If nobody answers before the next sweep'
  const what = isFinal ? 'the todo fails' : 'the todo goes back to the queue'
  return `${when}, ${what}: ${spent} of ${of} are spent then.`
}
