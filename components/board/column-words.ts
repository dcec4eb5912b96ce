import type { State } from '#lib/model/states'
import type { Counted } from '#lib/query/counts'

const ROUND = 10_000

/** A count for a column's header: exact to 10 000, then 10k+; `listed` when all of them are there to be counted. */
export function countText(counted: Counted | null, listed: number | null): string {
  if (listed !== null) return String(listed)
  if (counted === null) return ''
  return counted.capped || counted.count >= ROUND ? '10k+' : String(counted.count)
}

/** What an empty column would hold, and what brings it there. */
export const EMPTY: Record<State, string> = {
  pending: 'Nothing waits for a worker. Whatever an agent enqueues shows up here.',
  claimed: 'No worker has anything in hand. A todo is here from its claim until it is done.',
  'input-required': 'No worker has asked anything. Questions show up here and in the inbox.',
  'auth-required': 'No worker waits for somebody to sign in.',
  waiting: 'Nothing waits for its children.',
  completed: 'Nothing is done yet.',
  failed: 'Nothing has failed. What has spent its attempts ends up here until somebody puts it back.',
  canceled: 'Nothing was canceled or rejected.',
  rejected: 'Nothing was rejected.',
}
