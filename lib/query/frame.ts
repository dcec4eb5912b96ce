import type { State } from '#lib/model/states'
import type { Verb } from '#lib/model/transitions'
import type { Card } from '#lib/wire/todo'

/** One committed fact about a todo; `todo` is its row as it was when the log was read, null when it is gone since. */
export interface Transitioned {
  event_id: number
  todo: Card | null
  verb: Verb
  /** Both null when the state stayed. */
  from: State | null
  to: State | null
  reason: string | null
  actor: string
  attempt_seq: number | null
  lease_epoch: number | null
  at: string
}

/** A claimed todo's lease and progress, which change without an event. */
export interface Leased {
  todo_id: string
  lease_expires_at: string
  progress: Card['progress']
}

/** A fact without a todo: a setting that was changed, a bulk run that went on. */
export interface Noted {
  data: unknown
}

/** What the stream's frames hold, by their name. Those of other names are of no use to a page. */
export interface Frames {
  transition: Transitioned
  lease: Leased
  setting: Noted
  bulk: Noted
  /** What was missed cannot be told: fetch anew. */
  resync: unknown
}

/** A frame of the stream. */
export type Frame = { [Name in keyof Frames]: { name: Name; data: Frames[Name] } }[keyof Frames]

const NAMES: Record<keyof Frames, true> = { transition: true, lease: true, setting: true, bulk: true, resync: true }

/** The frame in an event of the stream, or null when it has none for a page. */
export function frameOf(name: string | undefined, data: string): Frame | null {
  return name !== undefined && Object.hasOwn(NAMES, name) ? ({ name, data: JSON.parse(data) } as Frame) : null
}
