import { ring } from '#lib/db/bell'
import type { Db } from '#lib/db/connect'
import { type ErrorCode, Refusal } from '#lib/model/errors'
import { isTerminal } from '#lib/model/states'
import type { Outcome } from '#lib/model/transitions'
import { count } from '#lib/ops/metrics'
import type { Caller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { todoColumns, todoOf } from '#lib/wire/todo-row'

/** The lease a worker's call claims to hold: its endpoint and the epoch it was given. */
export interface Held {
  id: string
  leaseEpoch: number
  endpointId: string
}

/** Whether this lease is the one under which the todo is held now. */
export const holds = (todo: Todo, { leaseEpoch, endpointId }: Held): boolean =>
  todo.owner_endpoint_id === endpointId && todo.lease_epoch === leaseEpoch

/** Whether a caller may see todos of this queue at all. */
export const seesQueue = (caller: Caller, queue: string): boolean => caller.queues?.includes(queue) ?? true

/** The todo as it stands, or null when there is none or the caller may not see its queue. */
export async function findTodo(db: Db, id: string, caller: Caller): Promise<Todo | null> {
  const [row] = await db.query({
    name: 'find_todo',
    text: `SELECT ${todoColumns('t')} FROM todos t WHERE t.id = $1`,
    values: [id],
  })
  return row && seesQueue(caller, row.queue as string) ? todoOf(row) : null
}

/** A refusal that tells the todo's current state. */
export const refuse = (code: ErrorCode, todo: Pick<Todo, 'state'>, detail: string): Refusal =>
  new Refusal(code, { detail, state: todo.state })

/** Why a caller without a lease could not do `verb` to a todo: not_found, todo_terminal, else invalid_state. */
export function whyNot(todo: Pick<Todo, 'state'> | null, verb: string): Refusal {
  if (!todo) return new Refusal('not_found', { detail: 'There is no such todo' })
  if (isTerminal(todo.state)) return refuse('todo_terminal', todo, `The todo is ${todo.state}`)
  return refuse('invalid_state', todo, `A todo that is ${todo.state} cannot be ${verb}`)
}

/**
 * Why a worker's call moved nothing: not_found, todo_terminal, lease_lost, else invalid_state. A call by a worker whose
 * attempt was taken from it also leaves a `fenced` event, at most one an attempt, so that people can see it.
 */
export async function whyNotHeld(db: Db, held: Held, caller: Caller, verb: string): Promise<Refusal> {
  const todo = await findTodo(db, held.id, caller)
  if (!todo) return new Refusal('not_found', { detail: 'There is no such todo' })
  if (holds(todo, held)) return refuse('invalid_state', todo, `${verb} is not possible while the todo is ${todo.state}`)
  await fence(db, held, verb)
  if (isTerminal(todo.state)) return refuse('todo_terminal', todo, `The todo is ${todo.state}`)
  return refuse('lease_lost', todo, `Epoch ${held.leaseEpoch} no longer holds this todo`)
}

/**
 * Leaves a `fenced` event for a late write of an attempt that was taken from its worker; however it ended, when what it
 * wrote about was overtaken by a later epoch.
 */
export async function fence(db: Db, held: Held, verb: string, isOvertaken = false): Promise<void> {
  const [fenced] = await db.query<{ queue: string }>({
    name: 'fence',
    text: `INSERT INTO todo_events (todo_id, queue, verb, reason, actor, attempt_seq, lease_epoch, data)
      SELECT t.id, t.queue, 'fenced', $4, 'worker:' || a.owner, a.seq, a.lease_epoch, jsonb_build_object('outcome', a.outcome)
      FROM todo_attempts a JOIN todos t ON t.id = a.todo_id
      WHERE a.todo_id = $1 AND a.lease_epoch = $2::bigint AND a.endpoint_id = $3 AND (a.outcome IN ('reaped', 'revoked') OR $5)
      ON CONFLICT (todo_id, attempt_seq) WHERE verb = 'fenced' DO NOTHING RETURNING queue`,
    values: [held.id, held.leaseEpoch, held.endpointId, `late_${verb}`, isOvertaken],
  })
  if (!fenced) return
  db.afterCommit(() => {
    count('switchboard_fenced_writes_total', { queue: fenced.queue })
    ring(db.root, 'log')
  })
}

/** The todo, when this very call has been carried out before and only its answer was lost; else null. */
export async function repeated(db: Db, held: Held, outcomes: readonly Outcome[]): Promise<Todo | null> {
  const [row] = await db.query({
    name: 'repeated',
    text: `SELECT ${todoColumns('t')} FROM todo_attempts a JOIN todos t ON t.id = a.todo_id
      WHERE a.todo_id = $1 AND a.lease_epoch = $2::bigint AND a.endpoint_id = $3 AND a.outcome = ANY($4)`,
    values: [held.id, held.leaseEpoch, held.endpointId, outcomes],
  })
  return row ? todoOf(row) : null
}
