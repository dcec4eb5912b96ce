import type { Card } from '#lib/wire/todo'
import type { Leased, Transitioned } from './frame'

/** How a todo came to be where it is, as the stream told it. */
export type Cause = Pick<Transitioned, 'event_id' | 'verb' | 'reason' | 'from' | 'to'> & {
  /** On this page's own clock (performance.now). */
  heardAt: number
}

/** The latest that is known of a todo, from whichever door it came. */
export interface Latest {
  card: Card
  /** When it became known: greater than `mark()` was before, at most `mark()` after. */
  mark: number
  cause: Cause | null
}

/**
 * The latest state of the todos heard of last, so that nothing older can take its place: not a list that was on its way
 * while a todo moved, not a frame that came late or twice.
 */
export interface Known {
  /** Takes a card in unless a later one is known; tells whether it was news. */
  note(card: Card, cause?: Cause | null): boolean
  /** Takes in a heartbeat's lease, if the todo is known. */
  noteLease(lease: Leased): void
  get(id: string): Latest | undefined
  /** All that became known since this mark. */
  since(mark: number): Latest[]
  mark(): number
}

const MOST = 5000

/** Makes an empty one; the todos not heard of for longest are forgotten beyond `most`. */
export function createKnown(most = MOST): Known {
  // A map keeps the order of insertion: the latest news stand last.
  const latest = new Map<string, Latest>()
  let marks = 0

  function put(card: Card, cause: Cause | null): void {
    latest.delete(card.id)
    latest.set(card.id, { card, mark: ++marks, cause })
    if (latest.size > most) latest.delete(latest.keys().next().value as string)
  }

  return {
    note: (card, cause = null) => {
      const before = latest.get(card.id)
      if (!before || isNewer(card, before.card)) {
        put(card, fitting(cause, card) ?? fitting(before?.cause, card))
        return true
      }
      // Of several facts read together, all bring the row as it is after the last.
      if (card.version === before.card.version) before.cause = later(fitting(cause, card), before.cause)
      return false
    },
    noteLease: (lease) => {
      const before = latest.get(lease.todo_id)
      const card = before && withLease(before.card, lease)
      if (card && card !== before.card) put(card, before.cause)
    },
    get: (id) => latest.get(id),
    since: (mark) => [...latest.values()].filter((one) => one.mark > mark),
    mark: () => marks,
  }
}

const fitting = (cause: Cause | null | undefined, { state }: Card): Cause | null => (cause?.to === state ? cause : null)

const later = (one: Cause | null, other: Cause | null): Cause | null =>
  (one?.event_id ?? 0) > (other?.event_id ?? 0) ? one : other

/** Whether a card is later than another of the same todo: by its version, else (a heartbeat bumps none) by its lease. */
export const isNewer = (card: Card, than: Card): boolean =>
  card.version === than.version
    ? (card.lease_expires_at ?? '') > (than.lease_expires_at ?? '')
    : card.version > than.version

/** The card with a heartbeat's lease, or the same card when it is not claimed or has a later one: a heartbeat never shortens. */
export function withLease(card: Card, { lease_expires_at, progress }: Leased): Card {
  if (card.state !== 'claimed' || (card.lease_expires_at ?? '') >= lease_expires_at) return card
  return { ...card, lease_expires_at, progress }
}
