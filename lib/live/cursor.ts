import type { Event } from '#lib/wire/event'
import type { Hole, Position } from './position'

/** A run of ids that had not been told, though later ones had. */
export type Span = Pick<Hole, 'first' | 'last'>

/** How far somebody has been told the log: every event up to `last` but those in the holes. */
export interface Mark {
  last: number
  /** When the event `last` happened; in a restored log it is another event. Null when it is not known. */
  at: string | null
  holes: readonly Span[]
}

// A cursor travels in a header at every reconnect; with more holes than this it only says that it cannot be continued.
const MOST_HOLES = 24
const LAST_DIGITS = 14
const LEFT_DIGITS = 10
const MOST_LEFT = 16 ** LEFT_DIGITS - 1

const padded = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/**
 * A mark as a client holds it. Later marks have texts that sort later: the last id comes first, then how little is left to
 * fill below it.
 */
export function cursorOf({ last, at, holes }: Mark): string {
  const left = holes.reduce((sum, hole) => sum + hole.last - hole.first + 1, 0)
  const order = left === 0 ? '~' : padded(MOST_LEFT - Math.min(left, MOST_LEFT), LEFT_DIGITS)
  const spans = holes.map((hole) => `${hole.first.toString(36)}-${(hole.last - hole.first).toString(36)}`)
  const rest = holes.length > MOST_HOLES ? ['!'] : spans
  return [padded(last, LAST_DIGITS), order, at === null ? '' : Date.parse(at).toString(36), ...rest].join('.')
}

/** The mark in a cursor; null for text that is none, or that says it cannot be continued. */
export function markIn(text: string): Mark | null {
  if (text.length > 1000) return null
  const [last = '', order = '', at = '', ...spans] = text.split('.')
  if (!/^[0-9a-f]{14}$/.test(last) || !/^(~|[0-9a-f]{10})$/.test(order) || !/^[0-9a-z]{0,9}$/.test(at)) return null
  const holes = spans.map(holeIn)
  const mark = { last: Number.parseInt(last, 16), at: timeIn(at), holes: holes.filter((hole) => hole !== null) }
  const isWhole = mark.at !== undefined && mark.holes.length === spans.length && cursorOf(mark as Mark) === text
  return isWhole && Number.isSafeInteger(mark.last) && isOrdered(mark.holes, mark.last) ? (mark as Mark) : null
}

function timeIn(text: string): string | null | undefined {
  if (text === '') return null
  const time = new Date(Number.parseInt(text, 36))
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

function holeIn(text: string): Span | null {
  const [, first, length] = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})$/.exec(text) ?? []
  if (!first || !length) return null
  const from = Number.parseInt(first, 36)
  return { first: from, last: from + Number.parseInt(length, 36) }
}

const isOrdered = (holes: readonly Span[], end: number): boolean =>
  holes.every(({ first, last }, index) => first > (holes[index - 1]?.last ?? 0) && last < end)

/** The mark after one more event has been told. */
export function marked({ last, at, holes }: Mark, event: Pick<Event, 'id' | 'at'>): Mark {
  const { id } = event
  if (id <= last) return { last, at, holes: holes.flatMap((hole) => without(hole, id)) }
  const skipped = id > last + 1 ? [{ first: last + 1, last: id - 1 }] : []
  return { last: id, at: event.at, holes: skipped.length > 0 ? [...holes, ...skipped] : holes }
}

function without(hole: Span, id: number): Span[] {
  if (id < hole.first || id > hole.last) return [hole]
  const rest = [
    { first: hole.first, last: id - 1 },
    { first: id + 1, last: hole.last },
  ]
  return rest.filter(({ first, last }) => first <= last)
}

/** Whether an event has been told to whoever stands at a mark. */
export const isTold = ({ last, holes }: Mark, id: number): boolean =>
  id <= last && !holes.some((hole) => id >= hole.first && id <= hole.last)

/** Whether everything told at one mark has been told at another too. */
export const covers = (mark: Mark, told: Mark): boolean =>
  mark.last >= told.last &&
  mark.holes.every(
    (hole) => hole.first > told.last || told.holes.some(({ first, last }) => first <= hole.first && hole.last <= last),
  )

/** Where to read on from a mark. */
export const positionAt = ({ last, holes }: Mark): Position => ({
  last,
  holes: holes.map((hole) => ({ ...hole, foundAt: performance.now(), bound: null })),
})

/** The mark of a position; `at` is when its last event happened, as far as that is known. */
export const markAt = ({ last, holes }: Position, at: string | null): Mark => ({
  last,
  at,
  holes: holes.map((hole) => ({ first: hole.first, last: hole.last })),
})
