import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { isTerminal } from '#lib/model/states'
import { TRANSITIONS } from '#lib/model/transitions'
import { actorOf, type Caller } from '#lib/wire/caller'
import type { Budget, Todo } from '#lib/wire/todo'
import { isInForce, lockAssignees } from './assignee'
import { move } from './move'
import { addToParents } from './parents'
import type { Plan } from './plan'
import { recentSettings } from './settings'
import { findTodo, refuse, whyNot } from './why-not'

const ALLOWANCE = 'coalesce((SELECT q.max_attempts FROM queues q WHERE q.name = t.queue), p.in_max_attempts)'

const REQUEUE: Plan = {
  transition: 'requeue',
  input: {
    reason: 'text',
    max_attempts: 'integer',
    assignee_endpoint_id: 'text',
    assignee_before: 'text',
    deadline_at: 'timestamptz',
    budget: 'jsonb',
  },
  // One that was given meanwhile may be out of force.
  pick: {
    named: 'i.assignee_endpoint_id IS NOT NULL OR t.assignee_endpoint_id IS NOT DISTINCT FROM i.assignee_before',
  },
  unfenced: true,
  set: {
    max_attempts: `greatest(t.max_attempts, t.failures + t.lease_expirations + ${ALLOWANCE}, t.wait_expirations + ${ALLOWANCE})`,
    assignee_endpoint_id: 'coalesce(p.in_assignee_endpoint_id, t.assignee_endpoint_id)',
    deadline_at: 'coalesce(p.in_deadline_at, t.deadline_at)',
    budget: 'coalesce(p.in_budget, t.budget)',
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
  deadline_at?: string | undefined
  budget?: Budget | undefined
}

/**
 * Puts an ended todo back with a fresh allowance; counters and history stay. Refuses with not_found, todo_terminal (it is
 * completed), invalid_state (it is live, its parent has ended, its assignee is revoked, its deadline or budget over and not
 * replaced), duplicate_key (a live todo has its idempotency key).
 */
export async function requeue(db: Db, id: string, caller: Caller, requeueing: Requeueing = {}): Promise<Todo> {
  for (;;) {
    // Each try is a transaction of its own: an endpoint is never locked after a todo.
    const todo = await db.transaction((tx) => tryRequeue(tx, id, caller, requeueing))
    if (todo) return todo
  }
}

/** The todo put back, or null when it changed between look and lock. */
async function tryRequeue(tx: Db, id: string, caller: Caller, requeueing: Requeueing): Promise<Todo | null> {
  const assignee = await lockAssignee(tx, requeueing)
  const settings = await recentSettings(tx)
  const todo = await requeueable(tx, id, caller)
  const before = assignee === undefined ? await lockOwnAssignee(tx, todo) : null
  await lockParent(tx, todo)
  await mustHaveTime(tx, todo, requeueing.deadline_at)
  mustHaveBudget(todo, requeueing.budget)
  const input = {
    reason: requeueing.reason,
    max_attempts: settings.max_attempts.value,
    assignee_endpoint_id: assignee,
    assignee_before: before,
    deadline_at: requeueing.deadline_at,
    budget: requeueing.budget,
  }
  const [moved] = await move(tx, REQUEUE, [{ id, actor: actorOf(caller), ...input }]).catch((error) => {
    throw keyTaken(error, todo)
  })
  if (!moved) return null
  await addToParents(tx, [moved.todo])
  return moved.todo
}

async function requeueable(db: Db, id: string, caller: Caller): Promise<Todo> {
  const todo = await findTodo(db, id, caller)
  if (!todo) throw whyNot(todo, 'requeued')
  if ((TRANSITIONS.requeue.from as readonly string[]).includes(todo.state)) return todo
  throw whyNot(todo, 'requeued')
}

async function lockAssignee(db: Db, { assignee }: Requeueing): Promise<string | undefined> {
  if (assignee === undefined) return undefined
  return (await lockAssignees(db, [{ name: assignee, pointer: '/assignee' }])).get(assignee)
}

/** Locks the todo's own assignee, if it has one, and refuses to put back what that alone could claim and no longer may. */
async function lockOwnAssignee(db: Db, todo: Todo): Promise<string | null> {
  const [row] = await db.query<{ id: string | null }>({
    name: 'assignee_of',
    text: 'SELECT assignee_endpoint_id AS id FROM todos WHERE id = $1',
    values: [todo.id],
  })
  if (!row?.id) return null
  if (await isInForce(db, row.id)) return row.id
  throw refuse('invalid_state', todo, `Its assignee ${todo.assignee} is revoked: name another in assignee`)
}

/** Refuses to put a child back under a parent that has ended, and keeps it from ending meanwhile. */
async function lockParent(db: Db, todo: Todo): Promise<void> {
  if (todo.parent_id === null) return
  const [parent] = await db.query<Pick<Todo, 'state'>>({
    name: 'lock_parent',
    text: 'SELECT state FROM todos WHERE id = $1 FOR UPDATE',
    values: [todo.parent_id],
  })
  if (parent && !isTerminal(parent.state)) return
  throw refuse('invalid_state', todo, 'Its parent has ended: requeue that first, or enqueue this again')
}

/** Refuses a deadline that would end the todo at once. */
async function mustHaveTime(db: Db, todo: Todo, given: string | undefined): Promise<void> {
  const deadline = given ?? todo.deadline_at
  if (deadline === null) return
  const [row] = await db.query<{ over: boolean }>({
    name: 'is_over',
    text: 'SELECT $1::timestamptz <= now() AS over',
    values: [deadline],
  })
  if (!row?.over) return
  if (given === undefined)
    throw refuse('invalid_state', todo, `Its deadline ${deadline} is over: give another in deadline_at`)
  throw new Refusal('validation_failed', { errors: [{ pointer: '/deadline_at', message: 'lies in the past' }] })
}

/** Refuses a budget that is used up already. */
function mustHaveBudget({ usage, budget, ...todo }: Todo, given: Budget | undefined): void {
  const limits = given ?? budget
  if (!limits || !usage) return
  const { cost_usd, tokens, seconds } = usage.total
  const spent = { max_cost_usd: cost_usd, max_tokens: tokens, max_seconds: seconds }
  const over = (Object.keys(spent) as (keyof typeof spent)[]).filter(
    (limit) => spent[limit] > (limits[limit] ?? Infinity),
  )
  if (over.length === 0) return
  if (!given) throw refuse('invalid_state', todo, `Its budget is used up (${over.join(', ')}): give another in budget`)
  const errors = over.map((limit) => ({ pointer: `/budget/${limit}`, message: `${spent[limit]} are used already` }))
  throw new Refusal('validation_failed', { errors })
}

function keyTaken(error: unknown, todo: Todo): unknown {
  if ((error as { constraint?: string }).constraint !== 'todos_live_key') return error
  return refuse('duplicate_key', todo, 'A live todo of this queue has the same idempotency key')
}
