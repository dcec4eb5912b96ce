import type { Db } from '#lib/db/connect'
import { INTERRUPTS } from '#lib/model/states'
import { actorOf, type Caller, type EndpointCaller } from '#lib/wire/caller'
import type { Interrupt } from '#lib/wire/interrupt'
import type { Todo } from '#lib/wire/todo'
import { HELD_BY, HELD_INPUT, heldRow } from './held'
import { findInterrupt } from './interrupt'
import { interruptColumns, interruptOf } from './interrupt-row'
import { move } from './move'
import type { Plan } from './plan'
import { findTodo, type Held, refuse, whyNot, whyNotHeld } from './why-not'

/** What parking a held question writes besides, whoever parks it. */
export const PARKS: Pick<Plan, 'also' | 'data'> = {
  also: {
    parked: `UPDATE interrupts q SET mode = 'park' FROM moved m WHERE q.id = m.was_interrupt_id AND q.status = 'open'`,
  },
  data: `jsonb_build_object('interrupt_id', m.was_interrupt_id)`,
}

const PARK: Plan = {
  transition: 'park',
  input: { ...HELD_INPUT, checkpoint: 'jsonb' },
  pick: { named: HELD_BY },
  set: { checkpoint: 'coalesce(p.in_checkpoint, t.checkpoint)' },
  ...PARKS,
}

const PARK_FOR_HOLDER: Plan = {
  ...PARK,
  variant: 'for_holder',
  input: {},
  pick: { named: 't.owner IS NOT NULL' },
  unfenced: true,
  set: {},
}

/** A question that nobody holds, and its todo. */
export interface Parked {
  interrupt: Interrupt
  todo: Todo
}

/**
 * The holder lets go of its question, at no cost: it stays open with its clock, and its answer makes the todo claimable
 * by anybody. Refuses as complete does; answered meanwhile is invalid_state.
 */
export async function park(db: Db, held: Held, caller: EndpointCaller, checkpoint?: unknown): Promise<Parked> {
  const [moved] = await move(db, PARK, [heldRow(held, { checkpoint })])
  if (moved) return parked(db, moved.todo)
  const before = await parkedBefore(db, held, caller)
  if (before) return before
  throw await whyNotHeld(db, held, caller, 'park')
}

async function parked(db: Db, todo: Todo): Promise<Parked> {
  return { interrupt: (await findInterrupt(db, todo.open_interrupt_id as string)) as Interrupt, todo }
}

// An epoch parks once: whoever goes on has another.
async function parkedBefore(db: Db, held: Held, caller: EndpointCaller): Promise<Parked | null> {
  const [row] = await db.query({
    name: 'parked_before',
    text: `SELECT ${interruptColumns('q')} FROM interrupts q WHERE q.todo_id = $1 AND q.lease_epoch = $2::bigint
      AND q.requested_by_endpoint_id = $3 AND q.mode = 'park'`,
    values: [held.id, held.leaseEpoch, held.endpointId],
  })
  const todo = row && (await findTodo(db, held.id, caller))
  return todo ? { interrupt: interruptOf(row), todo } : null
}

/** Lets go of a held question for a holder that may be gone; parked before, it stays so. Refuses with not_found, todo_terminal, invalid_state. */
export async function parkForHolder(db: Db, id: string, caller: Caller): Promise<Parked> {
  for (;;) {
    const todo = await findTodo(db, id, caller)
    if (!todo) throw whyNot(todo, 'parked')
    if (!INTERRUPTS.includes(todo.state)) {
      const refusal = whyNot(todo, 'parked')
      throw refusal.code === 'todo_terminal' ? refusal : refuse('invalid_state', todo, 'No question of it is open')
    }
    if (todo.owner === null) return parked(db, todo)
    const [moved] = await move(db, PARK_FOR_HOLDER, [{ id, actor: actorOf(caller) }])
    if (moved) return parked(db, moved.todo)
  }
}
