import type { Disposition, InterruptStatus, Outcome } from '#lib/model/transitions'
import type { Event } from '#lib/wire/event'

/** What happened, as people say it. */
export const HAPPENED: Record<Event['verb'], string> = {
  created: 'Enqueued',
  claimed: 'Claimed',
  completed: 'Completed',
  failed: 'Failed for good',
  retry_scheduled: 'Failed, to be tried again',
  released: 'Given back by its worker',
  interrupted: 'Asked a question',
  parked: 'Parked until it is answered',
  answered: 'Answered',
  resumed: 'Went on with its worker’s own answer',
  waiting: 'Waits for its children',
  continued: 'Goes on',
  canceled: 'Canceled',
  rejected: 'Rejected',
  requeued: 'Put back',
  extended: 'Given more time',
  edited: 'Edited',
  effect_begun: 'Began an outside effect',
  effect_settled: 'Outside effect settled',
  fenced: 'Late write refused',
  setting: 'Setting changed',
  bulk: 'Bulk run',
}

const SETTLED: Record<string, string> = { confirmed: 'it happened', failed: 'it did not happen' }

/** What an event is about, in its worker's own words: the question's title, or the effect's key and how it ended. */
export function aboutText({ data }: Pick<Event, 'data'>): string | null {
  const { title, key, status } = (data ?? {}) as Record<string, unknown>
  if (typeof title === 'string') return title
  if (typeof key !== 'string') return null
  return typeof status === 'string' && SETTLED[status] ? `${key}, ${SETTLED[status]}` : key
}

/** Reasons that the system gives; whatever else stands there are somebody's own words. */
const REASONS: Record<string, string> = {
  lease_expired: 'its lease expired',
  interrupt_expired: 'nobody answered in time',
  wait_expired: 'nobody answered in time',
  endpoint_revoked: 'its endpoint was revoked',
  max_attempts_exceeded: 'all attempts are spent',
  deadline_exceeded: 'its deadline has passed',
  budget_exceeded: 'it went over its budget',
  children_done: 'its children have ended',
  parent_ended: 'what it is a part of has ended',
  effect_settled: 'its worker has said how the effect went',
  worker_stopping: 'its worker was stopped',
}

const LATE = /^late_(.+)$/

/** Why it happened; null when nothing was said. */
export function reasonText(reason: string | null): string | null {
  if (reason === null) return null
  const late = LATE.exec(reason)?.[1]
  return late ? `its worker tried to ${late} it after the lease was lost` : (REASONS[reason] ?? reason)
}

/** How an attempt ended. */
export const ENDED: Record<Outcome, string> = {
  completed: 'completed',
  failed: 'failed',
  released: 'given back',
  continued: 'let go until later',
  reaped: 'taken from its worker',
  expired: 'expired',
  deadline: 'deadline passed',
  budget: 'over budget',
  canceled: 'canceled',
  revoked: 'revoked',
}

/** What became of the todo then. */
export const BECAME: Record<Disposition, string> = {
  done: 'done',
  retry_scheduled: 'to be tried again',
  dead_lettered: 'given up',
  requeued: 'put back',
  canceled: 'ended',
}

/** Whether an attempt's end was good, bad, or neither. */
export const toneOfOutcome = (outcome: Outcome | null): 'open' | 'good' | 'bad' | 'quiet' => {
  if (outcome === null) return 'open'
  if (outcome === 'completed') return 'good'
  return ['failed', 'reaped', 'expired', 'deadline', 'budget', 'revoked'].includes(outcome) ? 'bad' : 'quiet'
}

/** How a question stands. */
export const STANDS: Record<InterruptStatus, string> = {
  open: 'Open',
  answered: 'Answered',
  resolved: 'Answered by its worker',
  expired: 'Nobody answered in time',
  canceled: 'Withdrawn: the todo ended',
}
