import type { Db } from '#lib/db/connect'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { todoColumns, todoOf } from '#lib/wire/todo-row'
import { exceedBudgets } from './budget'
import { HELD_BY, HELD_INPUT, heldRow } from './held'
import { move } from './move'
import type { Plan } from './plan'
import type { Usage } from './usage'
import { findTodo, type Held, holds, refuse, repeated, whyNotHeld } from './why-not'

const WAIT: Plan = {
  transition: 'wait',
  input: { ...HELD_INPUT, checkpoint: 'jsonb', usage: 'jsonb' },
  pick: { named: `${HELD_BY} AND t.live_children > 0` },
  set: { checkpoint: 'coalesce(p.in_checkpoint, t.checkpoint)' },
  data: `jsonb_build_object('live_children', m.live_children)`,
}

/** What a worker leaves while its children work. */
export interface Leaving {
  checkpoint?: unknown
  usage?: Usage | undefined
}

/**
 * The holder lets go of its todo until its last live child ends; then it is pending, for anybody to go on from the
 * checkpoint; over its budget it fails instead. A repeat is answered with the row as it stands. Refuses with no_children when none is alive, else as
 * complete does.
 */
export async function wait(db: Db, held: Held, caller: EndpointCaller, leaving: Leaving = {}): Promise<Todo> {
  const [over] = await exceedBudgets(db, [{ ...held, usage: leaving.usage }])
  if (over) return over
  const [moved] = await move(db, WAIT, [heldRow(held, leaving)])
  if (moved) return moved.todo
  const before = (await waitedBefore(db, held)) ?? (leaving.usage ? await repeated(db, held, ['budget']) : null)
  if (before) return before
  const todo = await findTodo(db, held.id, caller)
  if (todo?.state === 'claimed' && holds(todo, held))
    throw refuse('no_children', todo, 'No child of this todo is alive')
  throw await whyNotHeld(db, held, caller, 'wait')
}

async function waitedBefore(db: Db, { id, leaseEpoch, endpointId }: Held): Promise<Todo | null> {
  const [row] = await db.query({
    name: 'waited_before',
    text: `SELECT ${todoColumns('t')} FROM todo_attempts a JOIN todos t ON t.id = a.todo_id
      WHERE a.todo_id = $1 AND a.lease_epoch = $2::bigint AND a.endpoint_id = $3 AND EXISTS (
        SELECT FROM todo_events e WHERE e.todo_id = a.todo_id AND e.attempt_seq = a.seq AND e.verb = 'waiting')`,
    values: [id, leaseEpoch, endpointId],
  })
  return row ? todoOf(row) : null
}
