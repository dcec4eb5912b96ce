import type { Db } from '#lib/db/connect'
import { INTERRUPTS, isTerminal, STATE_NAMES, type State } from '#lib/model/states'
import type { Caller } from '#lib/wire/caller'
import type { Caused } from '#lib/wire/frame'
import { id as idSchema } from '#lib/wire/scalars'
import type { Card } from '#lib/wire/todo'
import { cardColumns, cardOf } from '#lib/wire/todo-row'
import { containing, inQueues, searching, Where } from './read-where'
import { orderOf, type TodoSort } from './todo-order'

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
  /** Only children of this todo. */
  parent_id?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}

/** Which part of a list. */
export interface Page {
  limit?: number | undefined
  cursor?: string | undefined
}

/** How a list is sorted: newest first unless said. */
export interface Sorted {
  sort?: TodoSort | undefined
}

/** How many there are: exact up to 10 000, then that and `capped`. */
export interface Counted {
  count: number
  capped: boolean
}

/** One page of todos. */
export interface TodoList {
  todos: Card[]
  next_cursor: string | null
  counts: Record<State, Counted>
  /** Since when the oldest in each live state has been there, under the same filter; of a capped count the oldest of those. */
  oldest: Partial<Record<State, string>>
  /** How those on the page came back that are pending again. */
  causes: Caused[]
}

const PAGE = 50
const MOST_COUNTED = 10_000

/**
 * Todos newest first, or by their end, with the counts of every state under the same filter (all of it but `state` and
 * paging, so that a board can show beside its columns what else there is). Refuses a queue outside the caller's with
 * forbidden, a bad cursor, a sort that does not fit or a search that takes too long with validation_failed.
 */
export async function listTodos(db: Db, filter: TodoFilter & Page & Sorted, caller: Caller): Promise<TodoList> {
  const limit = filter.limit ?? PAGE
  const counted = matching(filter, caller)
  const listed = matching(filter, caller)
  const order = orderOf(filter.sort, filter.state)
  if (filter.cursor !== undefined) order.goOn(listed, filter.cursor)
  const states = possible(filter).filter((state) => filter.state?.includes(state) ?? true)
  const text = pageSql({ states, where: listed, rows: limit + 1, by: order.by })
  const [rows, counts] = await searching(db, culprits(filter), async (tx) => [
    await tx.query({ text, values: listed.values }),
    await tx.query<CountRow>({ text: countsSql(possible(filter), counted), values: counted.values }),
  ])
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    todos: shown.map(cardOf),
    next_cursor: rows.length > limit && last ? order.cursorOf(last) : null,
    counts: { ...NONE, ...Object.fromEntries(counts.map(({ state, count }) => [state, capped(count)])) },
    oldest: Object.fromEntries(counts.flatMap(({ state, oldest }) => (oldest === null ? [] : [[state, oldest]]))),
    causes: shown.flatMap(({ cause }) => (cause ? [cause as Caused] : [])),
  }
}

interface CountRow {
  state: State
  count: number
  oldest: string | null
}

const NONE = Object.fromEntries(STATE_NAMES.map((state) => [state, { count: 0, capped: false }])) as TodoList['counts']

// Whatever is neither claimed nor held by a question has no owner, and needs no look.
const possible = ({ owner }: TodoFilter): readonly State[] =>
  owner === undefined ? STATE_NAMES : ['claimed', ...INTERRUPTS]

const capped = (count: number): Counted => ({ count: Math.min(count, MOST_COUNTED), capped: count > MOST_COUNTED })

interface PageSql {
  states: readonly State[]
  where: Where
  rows: number
  by(alias: string): string
}

// Each state yields its first few by an index that begins with it, and the first of all are taken: as fast for any
// state, however many rows stand beside it. States and LIMIT are literals, since the pool plans blind to parameters.
const pageSql = ({ states, where, rows, by }: PageSql): string => `
  SELECT ${cardColumns('t')}, t.completed_at::text AS ended_at, came.cause FROM (
    SELECT c.* FROM (${states.map((state) => firstSql(state, { where, rows, by })).join(' UNION ALL ')}) c
    ORDER BY ${by('c')} LIMIT ${rows}) page
  JOIN todos t ON t.id = page.id LEFT JOIN LATERAL (${CAUSE}) came ON true ORDER BY ${by('page')}`

const firstSql = (state: State, { where, rows, by }: Omit<PageSql, 'states'>): string =>
  `(SELECT t.id, t.completed_at FROM todos t WHERE t.state = '${state}' AND ${where.sql} ORDER BY ${by('t')} LIMIT ${rows})`

// One look by an index for each that is back, and none for the others.
const CAUSE = `
  SELECT jsonb_build_object('todo_id', e.todo_id, 'event_id', e.id, 'verb', e.verb, 'reason', e.reason,
    'from', e.from_state, 'to', e.to_state) AS cause
  FROM todo_events e WHERE e.todo_id = t.id AND e.to_state IS NOT NULL AND t.state = 'pending' AND t.attempts > 0
  ORDER BY e.id DESC LIMIT 1`

const countsSql = (states: readonly State[], where: Where): string =>
  states.map((state) => countSql(state, where)).join(' UNION ALL ')

const countSql = (state: State, where: Where): string => `
  SELECT '${state}' AS state, count(*), ${isTerminal(state) ? 'NULL::timestamptz' : 'min(c.state_since)'} AS oldest FROM (
    SELECT ${isTerminal(state) ? '' : 't.state_since'} FROM todos t WHERE t.state = '${state}' AND ${where.sql}
    LIMIT ${MOST_COUNTED + 1}) c`

/** The conditions of a filter, `state` apart, on `todos t`. Refuses a queue outside the caller's with forbidden. */
export function matching(filter: TodoFilter, caller: Caller): Where {
  const where = inQueues(new Where(), 't.queue', filter.queue, caller)
    .when(filter.kind, (given) => `t.kind = ${given}`)
    .when(filter.owner, (given) => `(t.owner = ${given} OR split_part(t.owner, '/', 1) = ${given})`)
    .when(filter.parent_id, (given) => `t.parent_id = ${given}`)
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
  const slow = (['q', 'kind', 'owner', 'parent_id', 'created_after', 'created_before', 'queue'] as const).filter(
    (name) => filter[name] !== undefined,
  )
  return slow.includes('q') ? ['q'] : slow
}
