import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { TRANSITIONS } from '#lib/model/transitions'
import { actorOf, type Caller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { move } from './move'
import { BULK_DATA, type Plan } from './plan'
import { findTodo, whyNot } from './why-not'

/** Ends todos for who brings no lease, once as things stand. */
export const CANCEL: Plan = {
  transition: 'cancel',
  input: { reason: 'text', bulk_id: 'text' },
  pick: { named: 'true' },
  unfenced: true,
  reason: 'm.in_reason',
  data: BULK_DATA,
}

/** The same for pending ones. */
export const REJECT: Plan = { ...CANCEL, transition: 'reject' }

/** Ends a live todo because it is no longer wanted; canceled before, it stays so. Refuses with not_found, forbidden, todo_terminal. */
export async function cancel(db: Db, id: string, caller: Caller, reason?: string): Promise<Todo> {
  return moveUnfenced(db, CANCEL, { id, caller, input: { reason }, already: 'canceled' })
}

/** Ends a pending todo because it should not have been asked for. Refuses with not_found, forbidden, todo_terminal, invalid_state. */
export async function reject(db: Db, id: string, caller: Caller, reason?: string): Promise<Todo> {
  return moveUnfenced(db, REJECT, { id, caller, input: { reason } })
}

interface UnfencedCall {
  id: string
  caller: Caller
  input: object
  /** The state in which there is nothing left to do, answered as done. */
  already?: Todo['state']
}

/** Moves a todo for somebody who brings no epoch: when it changed between look and lock, looks again. */
async function moveUnfenced(db: Db, plan: Plan, { id, caller, input, already }: UnfencedCall): Promise<Todo> {
  for (;;) {
    const todo = await findTodo(db, id, caller)
    if (todo && todo.state === already && mayEnd(todo, caller)) return todo
    const why = whyNotEnded(todo, plan, caller)
    if (why) throw why
    const [moved] = await move(db, plan, [{ id, actor: actorOf(caller), ...input }])
    if (moved) return moved.todo
  }
}

/** Why a caller may not end a todo by this plan as it stands, or null. */
export function whyNotEnded(todo: Todo | null, { transition }: Plan, caller: Caller): Refusal | null {
  const verb = `${transition}ed`
  if (!todo) return whyNot(todo, verb)
  if (!mayEnd(todo, caller))
    return new Refusal('forbidden', { detail: 'Only what this endpoint enqueued', state: todo.state })
  return (TRANSITIONS[transition].from as readonly string[]).includes(todo.state) ? null : whyNot(todo, verb)
}

/** An endpoint that may only enqueue ends only what it enqueued. */
const mayEnd = (todo: Todo, caller: Caller): boolean =>
  caller.type === 'person' || caller.scopes.includes('operate') || todo.created_by_endpoint_id === caller.id
