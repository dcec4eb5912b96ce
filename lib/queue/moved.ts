import type { State } from '#lib/model/states'
import type { Verb } from '#lib/model/transitions'
import type { Todo } from '#lib/wire/todo'

/** A todo that has moved, what it was before, and the event's verb. */
export interface Moved {
  todo: Todo
  from: State
  verb: Verb
  /** The kind of the question that closed, and how long it had been open. */
  asked: { kind: string; seconds: number } | null
}
