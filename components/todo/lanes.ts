import type { Event } from '#lib/wire/event'
import type { Attempt } from '#lib/wire/todo'

/** A stretch of a todo's history: one attempt with what happened in it, or what happened between two. */
export interface Lane {
  key: string
  attempt: Attempt | null
  events: Event[]
}

/** A todo's history in lanes, oldest first. A late write by a worker that had lost its lease stands in that worker's lane. */
export function lanesOf(attempts: readonly Attempt[], events: readonly Event[]): Lane[] {
  const bySeq = new Map(attempts.map((attempt) => [attempt.seq, attempt]))
  const lanes = new Map<string, Lane>()
  let between = ''
  for (const event of events) {
    const attempt = attemptOf(event, bySeq)
    if (attempt) between = ''
    else between ||= `before ${event.id}`
    const key = attempt ? `attempt ${attempt.seq}` : between
    const lane = lanes.get(key) ?? { key, attempt, events: [] }
    lane.events.push(event)
    lanes.set(key, lane)
  }
  const unseen = attempts.filter(({ seq }) => !lanes.has(`attempt ${seq}`))
  return [...unseen.map((attempt) => ({ key: `attempt ${attempt.seq}`, attempt, events: [] })), ...lanes.values()]
}

// An event carries the last attempt's number also when that has ended; what ends it has the same time as its end.
function attemptOf({ attempt_seq, verb, at }: Event, bySeq: ReadonlyMap<number, Attempt>): Attempt | null {
  const attempt = attempt_seq === null ? undefined : bySeq.get(attempt_seq)
  if (!attempt) return null
  return verb === 'fenced' || attempt.ended_at === null || at <= attempt.ended_at ? attempt : null
}
