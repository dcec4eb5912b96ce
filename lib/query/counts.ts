import { STATE_NAMES, type State } from '#lib/model/states'
import type { Transitioned } from './frame'

/** How many there are: exact up to 10 000, then that and `capped`. */
export interface Counted {
  count: number
  capped: boolean
}

/** How many todos there are in each state. */
export type Counts = Record<State, Counted>

/** The counts, and since when the oldest in each live state has been there. */
export interface Tally {
  counts: Counts
  oldest: Partial<Record<State, string>>
}

/** The counts after these facts, which must be new ones. A capped count stays as it is. */
export function applyTransitions(counts: Counts, facts: readonly Transitioned[]): Counts {
  const moves = new Map<State, number>()
  for (const { from, to } of facts) {
    if (from !== null) moves.set(from, (moves.get(from) ?? 0) - 1)
    if (to !== null) moves.set(to, (moves.get(to) ?? 0) + 1)
  }
  if ([...moves.values()].every((by) => by === 0)) return counts
  return Object.fromEntries(STATE_NAMES.map((state) => [state, moved(counts[state], moves.get(state) ?? 0)])) as Counts
}

const moved = (counted: Counted, by: number): Counted =>
  counted.capped || by === 0 ? counted : { ...counted, count: counted.count + by }

/** The counts of several states in one. Facts told out of order may leave one below zero for a moment: that is shown as none. */
export const sum = (counts: Counts, states: readonly State[]): Counted => ({
  count: states.reduce((total, state) => total + Math.max(0, counts[state].count), 0),
  capped: states.some((state) => counts[state].capped),
})
