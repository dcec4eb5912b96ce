import { v7 as uuidv7 } from 'uuid'
import { ring } from '#lib/db/bell'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { LIVE } from '#lib/model/states'
import { count } from '#lib/ops/metrics'
import { actorOf, type Caller } from '#lib/wire/caller'
import type { Budget, Todo } from '#lib/wire/todo'
import { todoColumns, todoOf } from '#lib/wire/todo-row'
import { lockAssignees, type Named } from './assignee'
import { literals } from './move'
import { addToParents, type Child, lockParents } from './parents'
import { recentSettings } from './settings'
import { seesQueue } from './why-not'

/** A todo to be made; `delay_seconds` and `available_at` exclude each other. */
export interface NewTodo {
  queue: string
  title: string
  kind?: string | undefined
  payload?: unknown
  priority?: number | undefined
  idempotency_key?: string | undefined
  available_at?: string | undefined
  delay_seconds?: number | undefined
  deadline_at?: string | undefined
  budget?: Budget | undefined
  max_attempts?: number | undefined
  assignee?: string | undefined
  /** Whose part it is; `parent_epoch` is the lease under which its holder says so. */
  parent_id?: string | undefined
  parent_epoch?: number | undefined
}

/** The todo of an enqueue, and whether this call made it. */
export interface Enqueued {
  todo: Todo
  created: boolean
}

// Inserts in order of queue and key, so that two batches never wait for each other in a ring.
const INSERT = `WITH i AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS i(
      id text, queue text, title text, kind text, payload jsonb, priority smallint, idempotency_key text,
      available_at timestamptz, delay_seconds integer, deadline_at timestamptz, budget jsonb, max_attempts integer,
      assignee_endpoint_id text, parent_id text, depth smallint)),
  opened AS (
    INSERT INTO queues (name) SELECT DISTINCT i.queue FROM i WHERE NOT EXISTS (SELECT FROM queues q WHERE q.name = i.queue)
    ORDER BY 1 ON CONFLICT DO NOTHING),
  made AS (
    INSERT INTO todos (id, queue, title, kind, payload, priority, idempotency_key, assignee_endpoint_id,
      created_by_endpoint_id, parent_id, depth, deadline_at, budget, max_attempts,
      lease_seconds, available_at)
    SELECT i.id, i.queue, i.title, i.kind, i.payload, coalesce(i.priority, 0), i.idempotency_key, i.assignee_endpoint_id,
      $2, i.parent_id, coalesce(i.depth, 0), i.deadline_at, i.budget, coalesce(i.max_attempts, q.max_attempts, $3), coalesce(q.default_lease_seconds, $4),
      coalesce(i.available_at, now() + make_interval(secs => coalesce(i.delay_seconds, 0)))
    FROM i LEFT JOIN queues q ON q.name = i.queue
    ORDER BY i.queue, i.idempotency_key, i.id
    ON CONFLICT DO NOTHING
    RETURNING *),
  logged AS (
    INSERT INTO todo_events (todo_id, queue, verb, to_state, actor, lease_epoch)
    SELECT id, queue, 'created', state, $5, 0 FROM made ORDER BY id)
  SELECT ${todoColumns('made')} FROM made`

const FIND_LIVE = `SELECT ${todoColumns('t')} FROM todos t
  JOIN unnest($1::text[], $2::text[]) AS k(queue, key) ON t.queue = k.queue AND t.idempotency_key = k.key
  WHERE t.parent_id IS NULL AND t.state IN (${literals(LIVE)})`

// Under its parent a key is taken for ever: a crash between making children and waiting for them makes none twice.
const FIND_CHILDREN = `SELECT ${todoColumns('t')} FROM todos t
  JOIN unnest($1::text[], $2::text[]) AS k(parent_id, key) ON t.parent_id = k.parent_id AND t.idempotency_key = k.key`

type Row = NewTodo & { id: string }

/**
 * Makes todos, in one transaction and answered in order. A live todo of the same queue and idempotency key, or a child of
 * the same parent and key in any state, is returned instead, as it stands. Refuses a queue outside the caller's with
 * forbidden, an assignee that is unknown or revoked with validation_failed, and a parent as `lockParents` does; then none
 * is made. Pointers lead into `/todos` when they came as a batch (unless told, so many do).
 */
export async function enqueue(
  db: Db,
  todos: readonly NewTodo[],
  caller: Caller,
  { isBatch = todos.length > 1 } = {},
): Promise<Enqueued[]> {
  const closed = todos.find((todo) => !seesQueue(caller, todo.queue))
  if (closed) throw new Refusal('forbidden', { detail: `Queue ${closed.queue} is not among yours` })
  const rows = todos.map((todo) => ({ ...todo, id: uuidv7() }))
  const pointerTo = (at: number) => (isBatch ? `/todos/${at}` : '')
  const write = (tx: Db) => enqueueRows(tx, rows, caller, pointerTo)
  return rows.length > 1 || rows.some((row) => row.assignee || row.parent_id) ? db.transaction(write) : write(db)
}

async function enqueueRows(
  db: Db,
  rows: readonly Row[],
  caller: Caller,
  pointerTo: (at: number) => string,
): Promise<Enqueued[]> {
  const found = new Map<string, Todo>()
  await findKnown(
    db,
    rows.filter((row) => row.assignee || row.parent_id),
    found,
  )
  const places = rows.map((row, at) => ({ row, pointer: pointerTo(at) }))
  const wanted = places.filter(({ row }) => !found.has(row.id))
  const assignees = await lockAssignees(
    db,
    wanted.flatMap(({ row, pointer }) => assigneeOf(row, pointer)),
  )
  const parents = await lockParents(
    db,
    wanted.flatMap(({ row, pointer }) => childOf(row, pointer)),
    caller,
  )
  const made = new Set<string>()
  // A key's todo may end between our insert and our look: then the key is free and the insert is tried again.
  for (let missing = rows.filter((row) => !found.has(row.id)); missing.length > 0; ) {
    for (const todo of await insert(db, missing, { caller, assignees, parents })) {
      found.set(todo.id, todo)
      made.add(todo.id)
    }
    missing = missing.filter((row) => !found.has(row.id))
    await findKnown(db, missing, found)
    missing = missing.filter((row) => !found.has(row.id))
  }
  return rows.map((row) => ({ todo: found.get(row.id) as Todo, created: made.has(row.id) }))
}

const assigneeOf = ({ assignee }: Row, pointer: string): Named[] =>
  assignee === undefined ? [] : [{ name: assignee, pointer: `${pointer}/assignee` }]

const childOf = ({ parent_id, parent_epoch }: Row, pointer: string): Child[] =>
  parent_id === undefined ? [] : [{ parentId: parent_id, parentEpoch: parent_epoch, pointer }]

interface Inserting {
  caller: Caller
  /** Ids of endpoints by name. */
  assignees: ReadonlyMap<string, string>
  /** The depths of parents, which are locked. */
  parents: ReadonlyMap<string, number>
}

async function insert(db: Db, rows: readonly Row[], { caller, assignees, parents }: Inserting): Promise<Todo[]> {
  const settings = await recentSettings(db)
  const input = rows.map((row) => ({
    ...row,
    assignee_endpoint_id: row.assignee && assignees.get(row.assignee),
    depth: row.parent_id && (parents.get(row.parent_id) ?? 0) + 1,
  }))
  const made = await db.query({
    name: 'enqueue',
    text: INSERT,
    values: [
      JSON.stringify(input),
      caller.type === 'endpoint' ? caller.id : null,
      settings.max_attempts.value,
      settings.default_lease_seconds.value,
      actorOf(caller),
    ],
  })
  const todos = made.map(todoOf)
  if (parents.size > 0) await addToParents(db, todos)
  if (todos.length > 0) {
    db.afterCommit(() => {
      for (const { queue } of todos) count('switchboard_todos_created_total', { queue })
      ring(db.root, 'log')
    })
  }
  return todos
}

/** Adds to `found`, under the caller's own row id, the todo that has each row's key already. */
async function findKnown(db: Db, rows: readonly Row[], found: Map<string, Todo>): Promise<void> {
  const keyed = rows.filter((row) => row.idempotency_key !== undefined)
  const children = keyed.filter((row) => row.parent_id !== undefined)
  const others = keyed.filter((row) => row.parent_id === undefined)
  await findByKey(db, { name: 'find_live', text: FIND_LIVE, scope: 'queue' }, others, found)
  await findByKey(db, { name: 'find_children', text: FIND_CHILDREN, scope: 'parent_id' }, children, found)
}

interface ByKey {
  name: string
  text: string
  /** Within what a key is unique. */
  scope: 'queue' | 'parent_id'
}

async function findByKey(db: Db, { name, text, scope }: ByKey, rows: readonly Row[], found: Map<string, Todo>) {
  if (rows.length === 0) return
  const values = [rows.map((row) => row[scope]), rows.map((row) => row.idempotency_key)]
  const known = await db.query({ name, text, values })
  const byKey = new Map(known.map((row) => [`${row[scope]} ${row.idempotency_key}`, todoOf(row)]))
  for (const row of rows) {
    const todo = byKey.get(`${row[scope]} ${row.idempotency_key}`)
    if (todo) found.set(row.id, todo)
  }
}
