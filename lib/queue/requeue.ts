import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { TRANSITIONS } from '#lib/model/transitions'
import { actorOf, type Caller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { lockAssignees } from './assignee'
import { move, type Plan } from './move'
import { recentSettings } from './settings'
import { findTodo, refuse, whyNot } from './why-not'

const ALLOWANCE = 'coalesce((SELECT q.max_attempts FROM queues q WHERE q.name = t.queue), p.in_max_attempts)'

const REQUEUE: Plan = {
  transition: 'requeue',
  input: { reason: 'text', max_attempts: 'integer', assignee_endpoint_id: 'text' },
  pick: { named: 'true' },
  unfenced: true,
  set: {
    max_attempts: `greatest(t.max_attempts, t.failures + t.lease_expirations + ${ALLOWANCE}, t.wait_expirations + ${ALLOWANCE})`,
    assignee_endpoint_id: 'coalesce(p.in_assignee_endpoint_id, t.assignee_endpoint_id)',
    available_at: 'now()',
    result: 'NULL',
    error: 'NULL',
    wait_until: 'NULL',
  },
  reason: 'm.in_reason',
}

/** What an operator changes in the same call. */
export interface Requeueing {
  reason?: string | undefined
  assignee?: string | undefined
}

/**
 * Puts an ended todo back with a fresh allowance; counters and history stay. Refuses with not_found, invalid_state (it is
 * live, or its assignee is revoked and not replaced), duplicate_key (a live todo has its idempotency key).
 */
export function requeue(db: Db, id: string, caller: Caller, requeueing: Requeueing = {}): Promise<Todo> {
  return db.transaction(async (tx) => {
    const assignees = await lockAssignees(tx, [requeueing])
    const assignee = requeueing.assignee ? assignees.get(requeueing.assignee) : undefined
    const settings = await recentSettings(tx)
    for (;;) {
      const todo = await requeueable(tx, id, caller)
      if (assignee === undefined && todo.assignee) await mayWork(tx, todo)
      const input = { reason: requeueing.reason, max_attempts: settings.max_attempts.value, assignee_endpoint_id: assignee }
      const [moved] = await move(tx, REQUEUE, [{ id, actor: actorOf(caller), ...input }]).catch(keyTaken)
      if (moved) return moved.todo
    }
  })
}

async function requeueable(db: Db, id: string, caller: Caller): Promise<Todo> {
  const todo = await findTodo(db, id, caller)
  if (!todo) throw whyNot(todo, 'requeued')
  if ((TRANSITIONS.requeue.from as readonly string[]).includes(todo.state)) return todo
  throw refuse('invalid_state', todo, `A todo that is ${todo.state} cannot be requeued`)
}

async function mayWork(db: Db, todo: Todo): Promise<void> {
  await lockAssignees(db, [{ assignee: todo.assignee ?? undefined }]).catch(() => {
    throw refuse('invalid_state', todo, `Its assignee ${todo.assignee} is revoked: name another in assignee`)
  })
}

function keyTaken(error: unknown): never {
  if ((error as { constraint?: string }).constraint !== 'todos_live_key') throw error
  throw new Refusal('duplicate_key', { detail: 'A live todo of this queue has the same idempotency key' })
}
