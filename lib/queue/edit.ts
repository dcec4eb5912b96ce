import { ring } from '#lib/db/bell'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { isTerminal } from '#lib/model/states'
import { actorOf, type Caller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { todoColumns, todoOf } from '#lib/wire/todo-row'
import { lockAssignees } from './assignee'
import { findTodo, refuse, whyNot } from './why-not'

/** What an operator changes of a live todo, and the version it changes; null takes a deadline or an assignee away. */
export interface Edit {
  version: number
  priority?: number | undefined
  deadline_at?: string | null | undefined
  max_attempts?: number | undefined
  available_at?: string | undefined
  assignee?: string | null | undefined
}

const COLUMNS = {
  priority: 'smallint',
  deadline_at: 'timestamptz',
  max_attempts: 'integer',
  available_at: 'timestamptz',
  assignee_endpoint_id: 'text',
} as const

const names = Object.keys(COLUMNS)
const given = Object.entries(COLUMNS).map(([column, type]) => `${column} ${type}`)

// What is not among the given keys stays as it is; null is a value.
const EDIT = `WITH i AS MATERIALIZED (
    SELECT g.*, $1::jsonb AS given FROM jsonb_to_record($1::jsonb) AS g(${given.join(', ')})),
  p AS MATERIALIZED (
    SELECT t.id AS todo_id, i.*, jsonb_build_object(${names.map((name) => `'${name}', t.${name}`).join(', ')}) AS before
    FROM i JOIN todos t ON t.id = $2 WHERE t.version = $3::bigint AND t.completed_at IS NULL FOR UPDATE OF t),
  edited AS (
    UPDATE todos t SET version = t.version + 1, updated_at = now(),
      ${names.map((name) => `${name} = CASE WHEN p.given ? '${name}' THEN p.${name} ELSE t.${name} END`).join(', ')}
    FROM p WHERE t.id = p.todo_id RETURNING t.*, p.before, p.given),
  logged AS (
    INSERT INTO todo_events (todo_id, queue, verb, actor, attempt_seq, lease_epoch, data)
    SELECT m.id, m.queue, 'edited', $4, nullif(m.attempts, 0), m.lease_epoch, jsonb_build_object(
      'before', (SELECT jsonb_object_agg(key, m.before -> key) FROM jsonb_object_keys(m.given) AS key),
      'after', m.given)
    FROM edited m)
  SELECT ${todoColumns('m')} FROM edited m`

/**
 * Changes a live todo, told by an `edited` event with what stood there before. Refuses with not_found, todo_terminal,
 * version_conflict (it has changed since that version), and validation_failed (fewer attempts than are spent, an unknown
 * assignee, a deadline in the past).
 */
export function edit(db: Db, id: string, caller: Caller, change: Edit): Promise<Todo> {
  return db.transaction(async (tx) => {
    const columns = await columnsOf(tx, change)
    const todo = await editable(tx, id, caller)
    if (todo.version !== change.version) throw conflict(todo)
    mustLeaveAnAttempt(todo, change.max_attempts)
    const values = [JSON.stringify(columns), id, change.version, actorOf(caller)]
    const [row] = await tx.query({ name: 'edit', text: EDIT, values })
    if (!row) throw conflict(await editable(tx, id, caller))
    tx.afterCommit(() => ring(tx.root, 'log'))
    return todoOf(row)
  })
}

async function editable(db: Db, id: string, caller: Caller): Promise<Todo> {
  const todo = await findTodo(db, id, caller)
  if (!todo || isTerminal(todo.state)) throw whyNot(todo, 'edited')
  return todo
}

async function columnsOf(db: Db, { version, assignee, ...columns }: Edit): Promise<object> {
  if (assignee === undefined) return columns
  if (assignee === null) return { ...columns, assignee_endpoint_id: null }
  const ids = await lockAssignees(db, [{ name: assignee, pointer: '/assignee' }])
  return { ...columns, assignee_endpoint_id: ids.get(assignee) }
}

/** Refuses an allowance under which nobody could claim it and only the reaper would end it. */
function mustLeaveAnAttempt(todo: Todo, allowed: number | undefined): void {
  const least = Math.max(todo.failures + todo.lease_expirations, todo.wait_expirations) + 1
  if (allowed === undefined || allowed >= least) return
  const message = `must be at least ${least}: ${least - 1} are spent`
  throw new Refusal('validation_failed', { errors: [{ pointer: '/max_attempts', message }], state: todo.state })
}

const conflict = (todo: Todo): Refusal =>
  refuse('version_conflict', todo, `The todo has changed meanwhile: it is at version ${todo.version}`)
