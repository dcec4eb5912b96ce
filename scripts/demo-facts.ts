import type { AnswerOf } from '#lib/sdk/client'
import type { Client } from '#lib/sdk/sdk'
import type { Event } from '#lib/wire/event'
import type { PowerCut } from './demo-power-cut'
import { workerName } from './demo-watch'

/** All that the API says about one of the demo's todos. */
export interface Facts {
  detail: AnswerOf<'getTodo'>
  events: Event[]
}

const AT_ONCE = 8
const PAGE = 200

/** Reads what became of each todo, in the order given. */
export async function readFacts(client: Client, ids: readonly string[]): Promise<Facts[]> {
  const facts: Facts[] = []
  const left = ids.entries()
  const read = async () => {
    for (const [index, id] of left)
      facts[index] = { detail: await client.getTodo({ id }), events: await allEvents(client, id) }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, read))
  return facts
}

async function allEvents(client: Client, id: string): Promise<Event[]> {
  const events: Event[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await client.listEvents({ id, limit: PAGE, ...(cursor && { cursor }) })
    events.push(...page.events)
    if (page.next_cursor === null) return events
    cursor = page.next_cursor
  }
}

/** Whether an event says that the reaper took a lease back that had run out. */
export const isLeaseExpired = ({ verb, reason }: Event): boolean => verb === 'requeued' && reason === 'lease_expired'

/** What is checked: the facts, how many packages there were, and which worker was killed. */
export interface Checked {
  facts: readonly Facts[]
  expected: number
  cut: PowerCut | null
}

/**
 * What is not as promised: every todo completed, exactly once, what the killed worker held taken back and completed by others,
 * and counters that agree with the attempts behind them.
 */
export function discrepancies({ facts, expected, cut }: Checked): string[] {
  const wrong = facts.flatMap((fact) => [...notCompletedOnce(fact), ...miscounted(fact)])
  if (facts.length !== expected) wrong.push(`There are ${facts.length} todos for ${expected} packages`)
  if (!cut) return [...wrong, 'No worker was killed: the work was over too soon']
  if (lostWith(cut, facts).length > 0) return wrong
  return [...wrong, `Nothing that ${cut.victim.name} held came back because its lease had expired`]
}

/** The todos that a killed worker took with it: their leases expired, and somebody else had to complete them. */
export function lostWith({ victim }: PowerCut, facts: readonly Facts[]): Facts[] {
  return facts.filter(({ detail, events }) => {
    const lost = detail.attempts
      .filter(({ owner }) => owner.endsWith(`/${workerName(victim.pid)}`))
      .map(({ seq }) => seq)
    return events.some(
      (event) => isLeaseExpired(event) && event.attempt_seq !== null && lost.includes(event.attempt_seq),
    )
  })
}

function notCompletedOnce({ detail, events }: Facts): string[] {
  const { title, state } = detail.todo
  if (state !== 'completed') return [`${title} is ${state}`]
  const completions = events.filter(({ verb }) => verb === 'completed').length
  const attempts = detail.attempts.filter(({ outcome }) => outcome === 'completed').length
  return completions === 1 && attempts === 1 ? [] : [`${title} was completed ${Math.max(completions, attempts)} times`]
}

/** How many attempts of a todo ended so. */
export const closedAs = ({ attempts }: Facts['detail'], outcome: string): number =>
  attempts.filter((attempt) => attempt.outcome === outcome).length

/** Where a todo's counters say something else than its attempts, questions and events. */
function miscounted({ detail, events }: Facts): string[] {
  // Of a long history the oldest attempts may be gone by now.
  if (!detail.attempts.some(({ seq }) => seq === 1)) return []
  const { title, attempts, lease_epoch, lease_expirations, failures } = detail.todo
  const continued = detail.interrupts.filter(({ mode, status }) => mode === 'park' && status === 'answered').length
  const pairs: [string, number, number][] = [
    ['attempts counted and listed', attempts, detail.attempts.length],
    ['attempts and lease epochs', attempts, lease_epoch],
    ['lease expirations counted and leases taken back', lease_expirations, closedAs(detail, 'reaped')],
    ['lease expirations counted and logged', lease_expirations, events.filter(isReclaimed).length],
    ['failures counted and attempts failed', failures, closedAs(detail, 'failed')],
    ['attempts continued and parked questions answered', closedAs(detail, 'continued'), continued],
  ]
  return pairs.filter(([, a, b]) => a !== b).map(([what, a, b]) => `${title}: ${what} differ, ${a} and ${b}`)
}

const isReclaimed = ({ data }: Event): boolean => typeof data === 'object' && data !== null && 'reclaimed_epoch' in data
