'use client'

import { isTerminal } from '#lib/model/states'
import { useNow } from '#lib/query/use-now'
import type { Todo } from '#lib/wire/todo'
import { RelativeTime } from '../shell/relative-time'
import { timeLeft, timeSpan } from '../shell/time-span'
import styles from './limits.module.css'
import { type Limit, limitsOf, overallSeconds } from './limits-of'

/** What bounds a todo: its deadline, and how much of its budget is used; what it used is told without a budget too. */
export function Limits({ todo }: { todo: Todo }) {
  const now = useNow()
  const limits = limitsOf(todo, overallSeconds(todo, now))
  if (todo.deadline_at === null && limits.length === 0) return null
  return (
    <dl className={styles.limits}>
      {todo.deadline_at && (
        <div className={styles.limit}>
          <dt>Deadline</dt>
          <dd>
            <DeadlineText todo={todo} at={todo.deadline_at} now={now} />
          </dd>
        </div>
      )}
      {limits.map((limit) => (
        <Used key={limit.name} limit={limit} />
      ))}
    </dl>
  )
}

function DeadlineText({ todo, at, now }: { todo: Todo; at: string; now: number | null }) {
  const left = now === null ? null : Math.floor(Date.parse(at) / 1000) - now
  if (isTerminal(todo.state) || left === null) return <RelativeTime at={at} />
  return left > 0 ? `in ${timeLeft(left)}, then it fails` : `over for ${timeSpan(-left)}: the next sweep fails it`
}

function Used({ limit: { name, used, of, text } }: { limit: Limit }) {
  const ratio = of === null ? null : Math.min(1, of === 0 ? 1 : used / of)
  return (
    <div className={styles.limit} data-over={(of !== null && used > of) || undefined}>
      <dt>{name}</dt>
      <dd>
        {text(used)}
        {of !== null && ` of ${text(of)}`}
        {ratio !== null && (
          <span className={styles.bar} aria-hidden>
            <span className={styles.used} style={{ transform: `scaleX(${ratio})` }} />
          </span>
        )}
      </dd>
    </div>
  )
}
