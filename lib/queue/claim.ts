import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { EndpointCaller } from '#lib/wire/caller'
import type { ClaimedTodo, Todo } from '#lib/wire/todo'
import { todoColumns, todoOf } from '#lib/wire/todo-row'
import { cappedQueues } from './capped'
import { BY_ID, fromQueues, IS_READY } from './claim-plan'
import { move } from './move'
import type { Moved } from './moved'
import { recentSettings } from './settings'
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

/**
 * Claims up to `limit` todos that are due, best priority first, then longest available. Empty when there is nothing;
 * never takes over a lapsed lease. Refuses a queue outside the endpoint's with forbidden.
 */
export async function claim(db: Db, asking: Asking, caller: EndpointCaller): Promise<ClaimedTodo[]> {
  const closed = asking.queues?.find((queue) => !seesQueue(caller, queue))
  if (closed !== undefined) throw new Refusal('forbidden', { detail: `Queue ${closed} is not among yours` })
  const queues = asking.queues ?? caller.queues
  const rows = [await claimRow(db, asking, caller)]
  const todos = await whileReady(db, { queues, caller }, (capped) =>
    once(db, asking, caller, (tx) =>
      locking(tx, capped, (locked) =>
        move(locked, fromQueues(asking.limit ?? 1, capped.length > 0), rows, [queues, capped]),
      ),
    ),
  )
  return withHistory(db, todos.sort(inClaimOrder))
}

/** Claims this todo. Refuses with not_found, todo_terminal, or invalid_state when it is not claimable now by this endpoint. */
export async function claimById(db: Db, id: string, asking: Asking, caller: EndpointCaller): Promise<ClaimedTodo> {
  const before = await findTodo(db, id, caller)
  if (!before) throw whyNot(before, 'claimed')
  const rows = [await claimRow(db, asking, caller)]
  const capped = await cappedQueues(db, [before.queue], true)
  const todos = await once(db, asking, caller, (tx) =>
    locking(tx, capped, (locked) => move(locked, BY_ID, rows, [id, capped])),
  )
  const claimed = todos.filter((todo) => todo.id === id)
  const [todo] = await withHistory(db, claimed)
  if (todo) return todo
  throw whyNot(await findTodo(db, id, caller), 'claimed now by you')
}

async function claimRow(db: Db, asking: Asking, caller: EndpointCaller): Promise<object> {
  const settings = await recentSettings(db)
  return {
    owner: `${caller.name}/${asking.worker ?? 'default'}`,
    endpoint_id: caller.id,
    lease_seconds: asking.leaseSeconds ?? caller.defaultLeaseSeconds,
    fallback_seconds: settings.default_lease_seconds.value,
    request_id: asking.requestId,
  }
}

const inClaimOrder = (a: Todo, b: Todo): number =>
  b.priority - a.priority || Date.parse(a.available_at) - Date.parse(b.available_at) || (a.id < b.id ? -1 : 1)

const MOST_AGAIN = 4

interface Scope {
  queues: readonly string[] | null
  caller: EndpointCaller
}

/**
 * Claims; having got nothing though something is ready, again, a few times: a limit may just have been set or taken away,
 * or another claim had locked the best of several queues, of which it then took one.
 */
async function whileReady(db: Db, scope: Scope, take: (capped: string[]) => Promise<Todo[]>): Promise<Todo[]> {
  for (let again = 0; ; again++) {
    const todos = await take(await cappedQueues(db, scope.queues, again > 0))
    if (todos.length > 0 || again === MOST_AGAIN || !(await isReady(db, scope))) return todos
  }
}

async function isReady(db: Db, { queues, caller }: Scope): Promise<boolean> {
  const rows = await db.query({ name: 'is_ready', text: IS_READY, values: [caller.id, queues] })
  return rows.length > 0
}

/** Runs a claim under the lock of its capped queues, if it has any. */
function locking(db: Db, capped: readonly string[], take: (db: Db) => Promise<Moved[]>): Promise<Todo[]> {
  const claimed = async (locked: Db) => (await take(locked)).map(({ todo }) => todo)
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
async function once(
  db: Db,
  asking: Asking,
  caller: EndpointCaller,
  claimed: (db: Db) => Promise<Todo[]>,
): Promise<Todo[]> {
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
