import { z } from 'zod'
import type { Db } from '#lib/db/connect'
import { INTERRUPTS, STATE_NAMES, type State } from '#lib/model/states'
import type { Caller } from '#lib/wire/caller'
import { id as idSchema } from '#lib/wire/scalars'
import type { Card } from '#lib/wire/todo'
import { cardColumns, cardOf } from '#lib/wire/todo-row'
import { fromCursor, toCursor } from './read-cursor'
import { containing, inQueues, searching, Where } from './read-where'

/** Which todos; all that are given must hold. */
export interface TodoFilter {
  /** Any of these. */
  state?: readonly State[] | undefined
  queue?: string | undefined
  kind?: string | undefined
  /** An owner, or an endpoint's name for all its workers. */
  owner?: string | undefined
  /** Text in id, title, kind or error, in any case; a whole id finds that todo alone. */
  q?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}

/** Which part of a list. */
export interface Page {
  limit?: number | undefined
  cursor?: string | undefined
}

/** How many there are: exact up to 10 000, then that and `capped`. */
export interface Counted {
  count: number
  capped: boolean
}

/** One page of todos, newest first. */
export interface TodoList {
  todos: Card[]
  next_cursor: string | null
  counts: Record<State, Counted>
}

const PAGE = 50
const MOST_COUNTED = 10_000

const cursorParts = z.tuple([z.literal('todos'), idSchema])

/**
 * Todos newest first, with the counts of every state under the same filter (all of it but `state` and paging, so that a
 * board can show beside its columns what else there is). Refuses a queue outside the caller's with forbidden, a bad
 * cursor or a search that takes too long with validation_failed.
 */
export async function listTodos(db: Db, filter: TodoFilter & Page, caller: Caller): Promise<TodoList> {
  const limit = filter.limit ?? PAGE
  const counted = conditions(filter, caller)
  const listed = conditions(filter, caller)
  if (filter.cursor !== undefined) {
    const [, last] = fromCursor(filter.cursor, cursorParts)
    listed.and((given) => `t.id < ${given}`, last)
  }
  const states = possible(filter).filter((state) => filter.state?.includes(state) ?? true)
  const [rows, counts] = await searching(db, culprits(filter), async (tx) => [
    await tx.query({ text: pageSql(states, listed, limit + 1), values: listed.values }),
    await tx.query<{ state: State; count: number }>({
      text: countsSql(possible(filter), counted),
      values: counted.values,
    }),
  ])
  const todos = rows.slice(0, limit).map(cardOf)
  const last = todos.at(-1)
  return {
    todos,
    next_cursor: rows.length > limit && last ? toCursor(['todos', last.id]) : null,
    counts: { ...NONE, ...Object.fromEntries(counts.map(({ state, count }) => [state, capped(count)])) },
  }
}

const NONE = Object.fromEntries(STATE_NAMES.map((state) => [state, { count: 0, capped: false }])) as TodoList['counts']

// Whatever is neither claimed nor held by a question has no owner, and needs no look.
const possible = ({ owner }: TodoFilter): readonly State[] =>
  owner === undefined ? STATE_NAMES : ['claimed', ...INTERRUPTS]

const capped = (count: number): Counted => ({ count: Math.min(count, MOST_COUNTED), capped: count > MOST_COUNTED })

// Each state yields its newest few by an index that begins with it, and the newest of all are taken: as fast for any
// state, however many rows stand beside it. States and LIMIT are literals, since the pool plans blind to parameters.
const pageSql = (states: readonly State[], where: Where, rows: number): string => `
  SELECT ${cardColumns('t')} FROM (
    SELECT id FROM (${states.map((state) => newestSql(state, where, rows)).join(' UNION ALL ')}) c
    ORDER BY id DESC LIMIT ${rows}) page
  JOIN todos t ON t.id = page.id ORDER BY t.id DESC`

const newestSql = (state: State, where: Where, rows: number): string =>
  `(SELECT t.id FROM todos t WHERE t.state = '${state}' AND ${where.sql} ORDER BY t.id DESC LIMIT ${rows})`

const countsSql = (states: readonly State[], where: Where): string =>
  states.map((state) => countSql(state, where)).join(' UNION ALL ')

const countSql = (state: State, where: Where): string => `
  SELECT '${state}' AS state, count(*) FROM (
    SELECT FROM todos t WHERE t.state = '${state}' AND ${where.sql} LIMIT ${MOST_COUNTED + 1}) c`

function conditions(filter: TodoFilter, caller: Caller): Where {
  const where = inQueues(new Where(), 't.queue', filter.queue, caller)
    .when(filter.kind, (given) => `t.kind = ${given}`)
    .when(filter.owner, (given) => `(t.owner = ${given} OR split_part(t.owner, '/', 1) = ${given})`)
    .when(filter.created_after, (given) => `t.created_at > ${given}::timestamptz`)
    .when(filter.created_before, (given) => `t.created_at < ${given}::timestamptz`)
  if (filter.q === undefined) return where
  // A whole id is looked up, not searched for: milliseconds among a million rows, where a search takes seconds.
  const id = idSchema.safeParse(filter.q.trim().toLowerCase())
  return id.success ? where.and((given) => `t.id = ${given}`, id.data) : where.and(found, containing(filter.q))
}

const found = (given: string): string =>
  `(t.title ILIKE ${given} OR t.id ILIKE ${given} OR t.kind ILIKE ${given} OR t.error::text ILIKE ${given})`

const culprits = (filter: TodoFilter): string[] => {
  const slow = (['q', 'kind', 'owner', 'created_after', 'created_before', 'queue'] as const).filter(
    (name) => filter[name] !== undefined,
  )
  return slow.includes('q') ? ['q'] : slow
}
