import type { Db } from '#lib/db/connect'
import type { Outcome } from '#lib/model/transitions'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { move, type Plan } from './move'
import { type Held, repeated, whyNotHeld } from './why-not'

/** The input every worker verb brings. An epoch may be any number: one that never was holds nothing. */
export const HELD_INPUT = { lease_epoch: 'bigint', endpoint_id: 'text' }

/** The guard of every worker verb: the row is still held by this endpoint in this epoch. */
export const HELD_BY = 't.owner_endpoint_id = i.endpoint_id AND t.lease_epoch = i.lease_epoch'

/** A worker's row for `move`: the lease it brings and what its verb adds. */
export const heldRow = (held: Held, input: object = {}) => ({
  id: held.id,
  lease_epoch: held.leaseEpoch,
  endpoint_id: held.endpointId,
  ...input,
})

/** One worker's call: what it does, under which lease, with what, and the outcome by which a repeat is known. */
export interface HolderCall {
  held: Held
  input?: object
  outcome: Outcome
}

/** Carries out one worker verb that ends its attempt; a repeat is answered with the row as it stands, anything else refused. */
export async function moveHeld(db: Db, plan: Plan, caller: EndpointCaller, call: HolderCall): Promise<Todo> {
  const [moved] = await move(db, plan, [heldRow(call.held, call.input)])
  if (moved) return moved.todo
  const before = await repeated(db, call.held, call.outcome)
  if (before) return before
  throw await whyNotHeld(db, call.held, caller, plan.transition)
}

/** The first mention of each lease in a batch: one statement can move a row only once, and only one lease of a todo is in force. */
export const firstMentions = <Mention extends Held>(mentions: readonly Mention[]): Mention[] => [
  ...new Map([...mentions].reverse().map((mention) => [`${mention.id} ${mention.leaseEpoch}`, mention])).values(),
]
