import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { isTerminal, LIVE } from '#lib/model/states'
import { TRANSITIONS } from '#lib/model/transitions'
import { actorOf, type Caller } from '#lib/wire/caller'
import type { Budget, Card, Todo } from '#lib/wire/todo'
import { cardColumns, cardOf } from '#lib/wire/todo-row'
import { lockAssignees, lockInForce } from './assignee'
import { literals, move } from './move'
import { addToParents } from './parents'
import { BULK_DATA, type Plan } from './plan'
import { recentSettings } from './settings'
import { refuse, seesQueue, whyNot } from './why-not'

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
    bulk_id: 'text',
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
  data: BULK_DATA,
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
    const outcomes = await db
      .transaction((tx) => requeueMany(tx, { ids: [id], caller, requeueing, plan: REQUEUE }))
      .catch((error) => {
        throw keyTaken(error)
      })
    const outcome = outcomes.get(id)
    if (outcome instanceof Refusal) throw outcome
    if (outcome) return outcome
  }
}

interface Requeues {
  ids: readonly string[]
  caller: Caller
  requeueing: Requeueing
  plan: Plan
  bulkId?: string
}

/** The same for many of a bulk run, as cards. */
export const BULK_REQUEUE: Plan = { ...REQUEUE, variant: 'bulk', asCards: true }

/**
 * Puts todos back within the caller's transaction, which has locked none before; gives each as it is now, or why it is not,
 * by id. One that changed between look and lock is not among them. Throws when another takes one of their idempotency keys
 * at the same moment.
 */
export async function requeueMany(db: Db, requeues: Requeues): Promise<Map<string, Todo | Refusal>> {
  const { ids, caller, requeueing, plan, bulkId } = requeues
  const assignee = await lockAssignee(db, requeueing)
  const settings = await recentSettings(db)
  const outcomes = new Map<string, Todo | Refusal>()
  const input = {
    actor: actorOf(caller),
    reason: requeueing.reason,
    max_attempts: settings.max_attempts.value,
    assignee_endpoint_id: assignee,
    deadline_at: requeueing.deadline_at,
    budget: requeueing.budget,
    bulk_id: bulkId,
  }
  const found = await find(db, ids, requeueing)
  const around = await look(
    db,
    ids.flatMap((id) => found.get(id) ?? []),
  )
  for (const id of ids) {
    const why = whyNotBack(seen(found.get(id), caller), { ...around, requeueing })
    if (why) outcomes.set(id, why)
  }
  const rows = ids
    .filter((id) => !outcomes.has(id))
    .map((id) => ({ id, assignee_before: found.get(id)?.assigneeId, ...input }))
  const moved = rows.length > 0 ? (await move(db, plan, rows)).map(({ todo }) => todo) : []
  await addToParents(db, moved)
  for (const todo of moved) outcomes.set(todo.id, todo)
  return outcomes
}

/** A card, its assignee's id, and whether its deadline, or the one to replace it, is over. */
type Found = Card & { assigneeId: string | null; isLate: boolean }

async function find(db: Db, ids: readonly string[], { deadline_at }: Requeueing): Promise<Map<string, Found>> {
  const rows = await db.query({
    name: 'find_to_requeue',
    text: `SELECT ${cardColumns('t')}, t.assignee_endpoint_id, coalesce(coalesce($2::timestamptz, t.deadline_at) <= now(), false) AS is_late
      FROM todos t WHERE t.id = ANY($1)`,
    values: [ids, deadline_at],
  })
  return new Map(
    rows.map((row) => {
      const assigneeId = row.assignee_endpoint_id as string | null
      return [row.id as string, { ...cardOf(row), assigneeId, isLate: row.is_late === true }]
    }),
  )
}

const seen = (todo: Found | undefined, caller: Caller): Found | null =>
  todo && seesQueue(caller, todo.queue) ? todo : null

/** What else decides whether todos may go back; locked, so that it stays so. */
interface Around {
  /** The ids of assignees that are in force. */
  inForce: ReadonlySet<string>
  liveParents: ReadonlySet<string>
  /** Queue and idempotency key of live todos, and of those found that are first with them. */
  takenBy: ReadonlyMap<string, string>
}

async function look(db: Db, todos: readonly Found[]): Promise<Around> {
  const inForce = await lockInForce(
    db,
    todos.flatMap(({ assigneeId }) => assigneeId ?? []),
  )
  const parentIds = [...new Set(todos.flatMap(({ parent_id }) => parent_id ?? []))]
  const parents = await when(parentIds, () =>
    db.query<Pick<Todo, 'id' | 'state'>>({
      name: 'lock_parents_to_requeue',
      text: 'SELECT id, state FROM todos WHERE id = ANY($1) ORDER BY depth, id FOR UPDATE',
      values: [parentIds],
    }),
  )
  const keyed = todos.filter((todo) => todo.idempotency_key !== null && todo.parent_id === null)
  const live = await when(keyed, () =>
    db.query<Pick<Todo, 'id' | 'queue' | 'idempotency_key'>>({
      name: 'live_keys',
      text: `SELECT t.id, t.queue, t.idempotency_key FROM unnest($1::text[], $2::text[]) AS k(queue, key)
        JOIN todos t ON t.queue = k.queue AND t.idempotency_key = k.key
        WHERE t.idempotency_key IS NOT NULL AND t.parent_id IS NULL AND t.state IN (${literals(LIVE)})`,
      values: [keyed.map(({ queue }) => queue), keyed.map(({ idempotency_key }) => idempotency_key)],
    }),
  )
  return {
    inForce,
    liveParents: new Set(parents.filter(({ state }) => !isTerminal(state)).map(({ id }) => id)),
    // A live one comes last, so that it stands; of several that have ended the first.
    takenBy: new Map([...keyed.toReversed(), ...live].map((todo) => [keyOf(todo), todo.id])),
  }
}

const when = <One, Row>(some: readonly One[], read: () => Promise<Row[]>): Promise<Row[]> | Row[] =>
  some.length > 0 ? read() : []

const keyOf = ({ queue, idempotency_key }: Pick<Todo, 'queue' | 'idempotency_key'>) => `${queue}/${idempotency_key}`

/** Why a todo may not go back as things stand, or null. */
function whyNotBack(
  todo: Found | null,
  { requeueing, ...around }: Around & { requeueing: Requeueing },
): Refusal | null {
  if (!todo || !(TRANSITIONS.requeue.from as readonly string[]).includes(todo.state)) return whyNot(todo, 'requeued')
  const { assignee, assigneeId, parent_id } = todo
  if (requeueing.assignee === undefined && assigneeId && !around.inForce.has(assigneeId))
    return refuse('invalid_state', todo, `Its assignee ${assignee} is revoked: name another in assignee`)
  if (parent_id !== null && !around.liveParents.has(parent_id))
    return refuse('invalid_state', todo, 'Its parent has ended: requeue that first, or enqueue this again')
  const why = whyTooLate(todo, requeueing.deadline_at) ?? whyUsedUp(todo, requeueing.budget)
  if (why) return why
  const isTaken = todo.idempotency_key !== null && parent_id === null && around.takenBy.get(keyOf(todo)) !== todo.id
  return isTaken ? refuse('duplicate_key', todo, KEY_TAKEN) : null
}

async function lockAssignee(db: Db, { assignee }: Requeueing): Promise<string | undefined> {
  if (assignee === undefined) return undefined
  return (await lockAssignees(db, [{ name: assignee, pointer: '/assignee' }])).get(assignee)
}

/** A deadline that is over would end the todo at once. */
function whyTooLate(todo: Found, given: string | undefined): Refusal | null {
  if (!todo.isLate) return null
  if (given === undefined)
    return refuse('invalid_state', todo, `Its deadline ${todo.deadline_at} is over: give another in deadline_at`)
  return new Refusal('validation_failed', { errors: [{ pointer: '/deadline_at', message: 'lies in the past' }] })
}

/** And so would a budget that is used up. */
function whyUsedUp({ usage, budget, ...todo }: Found, given: Budget | undefined): Refusal | null {
  const limits = given ?? budget
  if (!limits || !usage) return null
  const { cost_usd, tokens, seconds } = usage.total
  const spent = { max_cost_usd: cost_usd, max_tokens: tokens, max_seconds: seconds }
  const over = (Object.keys(spent) as (keyof typeof spent)[]).filter(
    (limit) => spent[limit] > (limits[limit] ?? Infinity),
  )
  if (over.length === 0) return null
  if (!given) return refuse('invalid_state', todo, `Its budget is used up (${over.join(', ')}): give another in budget`)
  const errors = over.map((limit) => ({ pointer: `/budget/${limit}`, message: `${spent[limit]} are used already` }))
  return new Refusal('validation_failed', { errors })
}

const KEY_TAKEN = 'A live todo of this queue has the same idempotency key'

function keyTaken(error: unknown): unknown {
  if ((error as { constraint?: string }).constraint !== 'todos_live_key') return error
  return new Refusal('duplicate_key', { detail: KEY_TAKEN })
}
