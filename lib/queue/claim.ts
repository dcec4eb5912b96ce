import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { TRANSITIONS } from '#lib/model/transitions'
import type { EndpointCaller } from '#lib/wire/caller'
import type { ClaimedTodo, Todo } from '#lib/wire/todo'
import { cappedQueues } from './capped'
import { literals, move, type Plan } from './move'
import { recentSettings } from './settings'
import { todoColumns, todoOf } from './todo-row'
import { findTodo, seesQueue, whyNot } from './why-not'
import { withHistory } from './with-history'

/** What a worker asks for. */
export interface Asking {
  /** Only from these; otherwise from all the endpoint may work. */
  queues?: readonly string[] | undefined
  limit?: number | undefined
  leaseSeconds?: number | undefined
  worker?: string | undefined
  /** The caller's mark of a repeat: while attempts of that claim are open, they are the answer, and nothing new. */
  requestId?: string | undefined
}

const PENDING = `t.state IN (${literals(TRANSITIONS.claim.from)})`

// What makes a pending row claimable, besides its queue.
const READY = `t.available_at <= now() AND (t.deadline_at IS NULL OR t.deadline_at > now())
  AND t.failures + t.lease_expirations < t.max_attempts AND t.wait_expirations < t.max_attempts
  AND (t.assignee_endpoint_id IS NULL OR t.assignee_endpoint_id = i.endpoint_id)`

// Capped queues ($3) were locked by a statement of its own before, so that their counts are not older than the lock.
const OPEN = 'NOT q.paused AND (q.max_claimed IS NULL OR q.name = ANY($3::text[]))'

const ROOM = 'q.max_claimed - (SELECT count(*) FROM todos h WHERE h.queue = q.name AND h.owner IS NOT NULL)'

const LEASE = `coalesce(p.in_lease_seconds, (SELECT q.default_lease_seconds FROM queues q WHERE q.name = t.queue), p.in_fallback_seconds)`

const take = (variant: string, chosen: string): Plan => ({
  transition: 'claim',
  variant,
  input: { owner: 'text', endpoint_id: 'text', lease_seconds: 'integer', fallback_seconds: 'integer', request_id: 'text' },
  pick: { chosen },
  set: {
    owner: 'p.in_owner',
    owner_endpoint_id: 'p.in_endpoint_id',
    lease_epoch: 't.lease_epoch + 1',
    attempts: 't.attempts + 1',
    lease_seconds: LEASE,
    lease_expires_at: `now() + make_interval(secs => ${LEASE})`,
    claimed_at: 'now()',
  },
  opens: `INSERT INTO todo_attempts (todo_id, seq, lease_epoch, owner, endpoint_id, request_id)
    SELECT m.id, m.attempts, m.lease_epoch, m.owner, m.owner_endpoint_id, m.in_request_id FROM moved m`,
})

// Each open queue yields its first few by the claim's own index; the best of all are taken. $2: the queues, null for all.
const fromQueues = (limit: number, capped: boolean): Plan =>
  take(
    `${limit}${capped ? '_capped' : ''}`,
    `SELECT c.id FROM i CROSS JOIN queues q CROSS JOIN LATERAL (
       SELECT t.id, t.priority, t.available_at FROM todos t
       WHERE t.queue = q.name AND ${PENDING} AND ${READY}
       ORDER BY t.priority DESC, t.available_at, t.id
       LIMIT ${capped ? `least(${limit}, greatest(0, ${ROOM}))` : limit} FOR UPDATE SKIP LOCKED) c
     WHERE ($2::text[] IS NULL OR q.name = ANY($2::text[])) AND ${OPEN}
     ORDER BY c.priority DESC, c.available_at, c.id LIMIT ${limit}`,
  )

const BY_ID = take(
  'by_id',
  `SELECT t.id FROM i CROSS JOIN queues q JOIN todos t ON t.queue = q.name
   WHERE t.id = $2 AND ${PENDING} AND ${READY} AND ${OPEN} AND (q.max_claimed IS NULL OR ${ROOM} > 0) FOR UPDATE OF t`,
)

/**
 * Claims up to `limit` todos that are due, best priority first, then longest available. Empty when there is nothing;
 * never takes over a lapsed lease. Refuses a queue outside the endpoint's with forbidden.
 */
export async function claim(db: Db, asking: Asking, caller: EndpointCaller): Promise<ClaimedTodo[]> {
  const closed = asking.queues?.find((queue) => !seesQueue(caller, queue))
  if (closed !== undefined) throw new Refusal('forbidden', { detail: `Queue ${closed} is not among yours` })
  const queues = asking.queues ?? caller.queues
  const todos = await once(db, asking, caller, async (tx) => {
    const capped = await cappedQueues(tx, queues)
    const plan = fromQueues(asking.limit ?? 1, capped.length > 0)
    return takeLocked(tx, capped, (locked) => run(locked, plan, asking, caller, [queues, capped]))
  })
  return withHistory(db, todos.sort(inClaimOrder))
}

/** Claims this todo. Refuses with not_found, todo_terminal, or invalid_state when it is not claimable now by this endpoint. */
export async function claimById(db: Db, id: string, asking: Asking, caller: EndpointCaller): Promise<ClaimedTodo> {
  const before = await findTodo(db, id, caller)
  if (!before) throw whyNot(before, 'claimed')
  const todos = await once(db, asking, caller, async (tx) => {
    const capped = await cappedQueues(tx, [before.queue])
    return takeLocked(tx, capped, (locked) => run(locked, BY_ID, asking, caller, [id, capped]))
  })
  const [todo] = await withHistory(db, todos)
  if (todo?.id === id) return todo
  throw whyNot(await findTodo(db, id, caller), 'claimed now by you')
}

async function run(db: Db, plan: Plan, asking: Asking, caller: EndpointCaller, params: unknown[]): Promise<Todo[]> {
  const settings = await recentSettings(db)
  const row = {
    owner: `${caller.name}/${asking.worker ?? 'default'}`,
    endpoint_id: caller.id,
    lease_seconds: asking.leaseSeconds ?? caller.defaultLeaseSeconds,
    fallback_seconds: settings.default_lease_seconds.value,
    request_id: asking.requestId,
  }
  return (await move(db, plan, [row], params)).map(({ todo }) => todo)
}

const inClaimOrder = (a: Todo, b: Todo): number =>
  b.priority - a.priority || Date.parse(a.available_at) - Date.parse(b.available_at) || (a.id < b.id ? -1 : 1)

/** Runs a claim under the lock of its capped queues, if it has any. */
function takeLocked(db: Db, capped: readonly string[], claimed: (db: Db) => Promise<Todo[]>): Promise<Todo[]> {
  if (capped.length === 0) return claimed(db)
  return db.transaction(async (tx) => {
    await tx.query({
      name: 'lock_queues',
      text: 'SELECT name FROM queues WHERE name = ANY($1) ORDER BY name FOR NO KEY UPDATE',
      values: [capped],
    })
    return claimed(tx)
  })
}

/** Runs a claim, or answers a repeat of one; two at once under one request id go one after the other. */
async function once(db: Db, asking: Asking, caller: EndpointCaller, claimed: (db: Db) => Promise<Todo[]>): Promise<Todo[]> {
  const { requestId } = asking
  if (requestId === undefined) return claimed(db)
  return db.transaction(async (tx) => {
    await tx.query({
      name: 'lock_request',
      text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
      values: [`claim ${caller.id} ${requestId}`],
    })
    const open = await tx.query({
      name: 'claimed_before',
      text: `SELECT ${todoColumns('t')} FROM todo_attempts a JOIN todos t ON t.id = a.todo_id
        WHERE a.endpoint_id = $1 AND a.request_id = $2 AND a.ended_at IS NULL`,
      values: [caller.id, requestId],
    })
    return open.length > 0 ? open.map(todoOf) : claimed(tx)
  })
}
