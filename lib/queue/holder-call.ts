import type { Db } from '#lib/db/connect'
import type { Outcome } from '#lib/model/transitions'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { exceedBudgets } from './budget'
import { heldRow } from './held'
import { move } from './move'
import type { Plan } from './plan'
import type { Usage } from './usage'
import { type Held, repeated, whyNotHeld } from './why-not'

/** One worker's call: what it does, under which lease, with what, and the outcome by which a repeat is known. */
export interface HolderCall {
  held: Held
  input?: object
  outcome: Outcome
  /** What it reports to have used; over its budget the todo fails instead. */
  usage?: Usage | undefined
}

/** Carries out one worker verb that ends its attempt; a repeat is answered with the row as it stands, anything else refused. */
export async function moveHeld(db: Db, plan: Plan, caller: EndpointCaller, call: HolderCall): Promise<Todo> {
  // What is done is done: a completion only records that it was over.
  const [over] = call.outcome === 'completed' ? [] : await exceedBudgets(db, [{ ...call.held, usage: call.usage }])
  if (over) return over
  const [moved] = await move(db, plan, [heldRow(call.held, { ...call.input, usage: call.usage })])
  if (moved) return moved.todo
  const before = await repeated(db, call.held, call.usage ? [call.outcome, 'budget'] : [call.outcome])
  if (before) return before
  throw await whyNotHeld(db, call.held, caller, plan.transition)
}
