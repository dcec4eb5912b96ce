/** A run of ids that were missing when a later one was read: their transactions are still open, or were rolled back. */
export interface Hole {
  first: number
  last: number
  /** When it was found, on the reader's own clock. */
  foundAt: number
  /** Every transaction that can still fill it has a lower xid; null until that is certain. */
  bound: number | null
}

/** How far the log has been read: every event up to `last` but those that may yet turn up in the holes. */
export interface Position {
  last: number
  holes: readonly Hole[]
}

/** What one look at the log found beyond a position, by one snapshot. */
export interface Look {
  /** The ids it found, in order. */
  ids: readonly number[]
  /** No transaction with a lower xid was open. */
  xmin: number
  /** No transaction with this xid or a higher one had begun. */
  nextXid: number
  /** Whether it found all there was; false when it stopped at its limit. */
  isWhole: boolean
  /** When it was, in milliseconds on the reader's own clock. */
  at: number
}

// A transaction takes an id an instant before its xid. It has both by the time a hole is this old.
const SETTLED_MS = 1000

/** The position after a look from `position` on. A hole is given up only when no open transaction can fill it. */
export function advance(position: Position, look: Look): Position {
  const filled = look.ids.filter((id) => id <= position.last)
  const added = look.ids.filter((id) => id > position.last)
  const left = filled.reduce(fill, [...position.holes])
  return {
    last: added.at(-1) ?? position.last,
    holes: [...(look.isWhole ? stillOpen(left, look) : left), ...gaps([position.last, ...added], look.at)],
  }
}

const fill = (holes: Hole[], id: number): Hole[] =>
  holes.flatMap((hole) => {
    if (id < hole.first || id > hole.last) return [hole]
    const rest = [
      { ...hole, last: id - 1 },
      { ...hole, first: id + 1 },
    ]
    return rest.filter(({ first, last }) => first <= last)
  })

const stillOpen = (holes: Hole[], { xmin, nextXid, at }: Look): Hole[] =>
  holes
    .filter(({ bound }) => bound === null || xmin < bound)
    .map((hole) => (hole.bound === null && at - hole.foundAt >= SETTLED_MS ? { ...hole, bound: nextXid } : hole))

/** The holes between ids in order. */
export const gaps = (ids: readonly number[], foundAt: number): Hole[] =>
  ids.slice(1).flatMap((id, index) => {
    const first = (ids[index] as number) + 1
    return first < id ? [{ first, last: id - 1, foundAt, bound: null }] : []
  })
