import { z } from 'zod'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { Caller } from '#lib/wire/caller'
import type { Effect } from '#lib/wire/effect'
import { EVENT_COLUMNS, type Event } from '#lib/wire/event'
import type { Interrupt } from '#lib/wire/interrupt'
import type { Attempt, Card, ClaimedTodo, Todo } from '#lib/wire/todo'
import { cardColumns, cardOf } from '#lib/wire/todo-row'
import { effectColumns } from './effect-row'
import { fromCursor, toCursor } from './read-cursor'
import type { Page } from './read-todos'
import { inQueues, Where } from './read-where'
import { findTodo } from './why-not'
import { attemptColumns, interruptsOf, withHistory } from './with-history'

/** A todo with all that belongs to it; its holder also gets what a claim gives. */
export interface TodoDetail {
  todo: Todo & Partial<Pick<ClaimedTodo, 'interrupts' | 'prior_attempts' | 'children'>>
  /** The newest 200, oldest first. */
  attempts: Attempt[]
  interrupts: Interrupt[]
  effects: Effect[]
  /** The first 200 made. */
  children: { todos: Card[]; total: number }
  /** Null as well where the caller may not see its queue, or it is long gone. */
  parent: Card | null
}

const MOST_LISTED = 200

const unseen = () => new Refusal('not_found', { detail: 'There is no such todo' })

/** The todo, when the caller may read it: an endpoint with `work` alone only what it holds or held. Else refuses with not_found. */
export async function readTodo(db: Db, id: string, caller: Caller): Promise<Todo> {
  const todo = await findTodo(db, id, caller)
  if (!todo) throw unseen()
  const readsAll = caller.type === 'person' || caller.scopes.includes('read')
  if (readsAll || todo.owner_endpoint_id === caller.id) return todo
  const held = await db.query({
    name: 'has_held',
    text: 'SELECT FROM todo_attempts WHERE todo_id = $1 AND endpoint_id = $2 LIMIT 1',
    values: [id, caller.id],
  })
  if (held.length === 0) throw unseen()
  return todo
}

/** What `readTodo` found, with its attempts, questions, effects, children and parent. */
export async function readDetail(db: Db, todo: Todo, caller: Caller): Promise<TodoDetail> {
  const holds = caller.type === 'endpoint' && todo.owner_endpoint_id === caller.id
  const [attempts, interrupts, effects, children, parent, [held]] = await Promise.all([
    readAttempts(db, todo.id),
    interruptsOf(db, [todo]),
    readEffects(db, todo.id),
    readChildren(db, todo.id, caller),
    readParent(db, todo, caller),
    holds ? withHistory(db, [todo]) : [],
  ])
  return { todo: held ?? todo, attempts, interrupts, effects, children, parent }
}

const readAttempts = (db: Db, todoId: string): Promise<Attempt[]> =>
  db.query<Attempt>({
    name: 'attempts_of',
    text: `SELECT ${attemptColumns('a')} FROM (
      SELECT * FROM todo_attempts WHERE todo_id = $1 ORDER BY seq DESC LIMIT ${MOST_LISTED}) a ORDER BY a.seq`,
    values: [todoId],
  })

const readEffects = (db: Db, todoId: string): Promise<Effect[]> =>
  db.query<Effect>({
    name: 'effects_of',
    text: `SELECT ${effectColumns('e')} FROM effects e WHERE e.todo_id = $1 ORDER BY e.begun_at, e.id LIMIT ${MOST_LISTED}`,
    values: [todoId],
  })

async function readChildren(db: Db, parentId: string, caller: Caller): Promise<TodoDetail['children']> {
  const where = inQueues(
    new Where().and((given) => `t.parent_id = ${given}`, parentId),
    't.queue',
    undefined,
    caller,
  )
  const rows = await db.query<Record<string, unknown> & { total: number }>({
    text: `SELECT ${cardColumns('t')}, count(*) OVER () AS total FROM todos t WHERE ${where.sql} ORDER BY t.id LIMIT ${MOST_LISTED}`,
    values: where.values,
  })
  return { todos: rows.map(cardOf), total: rows[0]?.total ?? 0 }
}

async function readParent(db: Db, { parent_id }: Todo, caller: Caller): Promise<Card | null> {
  const parent = parent_id === null ? null : await findTodo(db, parent_id, caller)
  return parent && cardOf({ ...parent })
}

const EVENTS_PAGE = 50
const cursorParts = z.tuple([z.literal('events'), z.int().min(0)])

/** What happened to a todo that `readTodo` found, oldest first. Refuses a bad cursor with validation_failed. */
export async function listEvents(db: Db, todo: Todo, { limit = EVENTS_PAGE, cursor }: Page) {
  const [, last] = cursor === undefined ? ['events', 0] : fromCursor(cursor, cursorParts)
  const rows = await db.query<Event>({
    name: 'list_events',
    text: `SELECT ${EVENT_COLUMNS.join(', ')} FROM todo_events WHERE todo_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
    values: [todo.id, last, limit + 1],
  })
  const events = rows.slice(0, limit)
  const end = events.at(-1)
  return { events, next_cursor: rows.length > limit && end ? toCursor(['events', end.id]) : null }
}
