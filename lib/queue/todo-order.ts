import { z } from 'zod'
import { Refusal } from '#lib/model/errors'
import { isTerminal, type State, TERMINAL } from '#lib/model/states'
import { id as idSchema } from '#lib/wire/scalars'
import { fromCursor, toCursor } from './read-cursor'
import type { Where } from './read-where'

/** How a list of todos may be sorted, latest first: by when they were made, or by when they ended. */
export type TodoSort = 'created' | 'ended'

interface Order {
  /** SQL for ORDER BY on the columns `id` and `completed_at` of `alias`. */
  by(alias: string): string
  /** The cursor behind this row. */
  cursorOf(row: Record<string, unknown>): string
  /** Goes on behind a cursor; refuses one of another list. */
  goOn(where: Where, cursor: string): void
}

const createdCursor = z.tuple([z.literal('todos'), idSchema])

// Microseconds, which the wire's times don't have.
const exactTime = z.string().regex(/^\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?\+00$/)
const endedCursor = z.tuple([z.literal('ended'), exactTime, idSchema])

const ORDERS: Record<TodoSort, Order> = {
  created: {
    by: (alias) => `${alias}.id DESC`,
    cursorOf: ({ id }) => toCursor(['todos', id]),
    goOn: (where, cursor) => {
      const [, last] = fromCursor(cursor, createdCursor)
      where.and((id) => `t.id < ${id}`, last)
    },
  },
  ended: {
    by: (alias) => `${alias}.completed_at DESC, ${alias}.id DESC`,
    cursorOf: ({ id, ended_at }) => toCursor(['ended', ended_at, id]),
    goOn: (where, cursor) => {
      const [, at, last] = fromCursor(cursor, endedCursor)
      where.and((time, id) => `(t.completed_at, t.id) < (${time}::timestamptz, ${id})`, at, last)
    },
  },
}

/** The order of a list of todos in these states; refuses one by their ends when some of them may not have ended. */
export function orderOf(sort: TodoSort | undefined, states: readonly State[] | undefined): Order {
  if (sort === 'ended' && !states?.every(isTerminal)) {
    const message = `ended needs states that are over: ${TERMINAL.join(', ')}`
    throw new Refusal('validation_failed', { errors: [{ pointer: '?sort', message }] })
  }
  return ORDERS[sort ?? 'created']
}
