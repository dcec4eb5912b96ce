import { VisuallyHidden } from '@mantine/core'
import type { Prompt } from '#lib/query/prompts'
import { useNow } from '#lib/query/use-now'
import type { Card } from '#lib/wire/todo'
import { waitEnd } from '../inbox/wait-end'
import { timeLeft, timeSpan } from '../shell/time-span'
import styles from './card-clock.module.css'
import { nearDeadline } from './near-deadline'

interface Clock {
  card: Card
  /** Its open question, if that is known. */
  prompt: Prompt | undefined
}

/** The clock that matters for a todo: until its lease ends, its question expires, it is due; else how long it has been so. */
export function CardClock({ card, prompt }: Clock) {
  const now = useNow() ?? Math.floor(Date.parse(card.state_since) / 1000)
  const deadline = nearDeadline(card, now)
  return (
    <div>
      {deadline && <p className={styles.deadline}>{deadline}</p>}
      {card.state === 'claimed' ? (
        <LeaseClock card={card} now={now} />
      ) : (
        <p className={styles.clock}>{textOf(card, prompt, now)}</p>
      )}
    </div>
  )
}

const secondsFrom = (at: string, now: number): number => Math.floor(Date.parse(at) / 1000) - now

function LeaseClock({ card, now }: { card: Card; now: number }) {
  const left = card.lease_expires_at === null ? 0 : secondsFrom(card.lease_expires_at, now)
  const ratio = Math.max(0, Math.min(1, left / card.lease_seconds))
  return (
    <div className={styles.lease} data-low={ratio < 0.2 || undefined}>
      <span className={styles.bar} aria-hidden>
        <span className={styles.left} style={{ transform: `scaleX(${ratio})` }} />
      </span>
      <span className={styles.seconds} title={`The lease is ${card.lease_seconds} s`}>
        {left > 0 ? (
          <>
            {timeLeft(left)}
            <VisuallyHidden> until the lease ends</VisuallyHidden>
          </>
        ) : (
          `lapsed ${timeSpan(-left)} ago`
        )}
      </span>
    </div>
  )
}

function textOf(card: Card, prompt: Prompt | undefined, now: number): string {
  const inState = timeSpan(-secondsFrom(card.state_since, now))
  switch (card.state) {
    case 'pending': {
      const due = secondsFrom(card.available_at, now)
      return due > 0 ? `due in ${timeLeft(due)}` : `ready for ${timeSpan(-due)}`
    }
    case 'input-required':
    case 'auth-required':
      return waitOf(card, prompt, now) ?? `asked ${inState} ago`
    case 'waiting':
      return `for ${card.live_children} ${card.live_children === 1 ? 'child' : 'children'}, ${inState}`
    case 'completed':
      return card.claimed_at ? `${inState} ago, took ${tookOf(card)}` : `${inState} ago`
    default:
      return `${inState} ago`
  }
}

const tookOf = ({ claimed_at, completed_at, state_since }: Card): string =>
  timeSpan((Date.parse(completed_at ?? state_since) - Date.parse(claimed_at ?? state_since)) / 1000)

/** Who keeps the todo while it waits, when the wait ends by itself, and what that costs. */
function waitOf(card: Card, prompt: Prompt | undefined, now: number): string | null {
  const { isParked, isFinal, spent, of } = waitEnd(card)
  const who = isParked ? 'parked, ' : ''
  if (!prompt) return isParked ? 'parked' : null
  if (prompt.expires_at === null) return `${who}waits without limit`
  const left = secondsFrom(prompt.expires_at, now)
  const then = isFinal ? 'then it fails' : 'then requeued'
  return `${who}${left > 0 ? `in ${timeLeft(left)}` : 'any moment'}, ${then}: spent ${spent} of ${of}`
}
