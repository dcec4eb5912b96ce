import type { Db } from '#lib/db/connect'
import type { Interrupt } from '#lib/wire/interrupt'
import { type Attempt, attemptSchema, type ClaimedTodo, type Todo } from '#lib/wire/todo'
import { interruptColumns, interruptOf } from './interrupt-row'
import { firstChildren } from './read-children'

const PRIOR = 5

const ATTEMPT_COLUMNS = Object.keys(attemptSchema.shape) as (keyof Attempt)[]

/** SQL for an attempt's columns as they go on the wire; `alias` names a row of `todo_attempts` in scope. */
export const attemptColumns = (alias: string): string => ATTEMPT_COLUMNS.map((name) => `${alias}.${name}`).join(', ')

/**
 * The todos as their holder gets them: with all questions and answers, newest last, the last five closed attempts, and the
 * first page of their children.
 */
export async function withHistory(db: Db, todos: readonly Todo[]): Promise<ClaimedTodo[]> {
  // Only enqueued and claimed so far, which is the usual case, it has no history yet.
  const ids = todos.filter((todo) => todo.attempts > 1 || todo.version > 2)
  const [interrupts, attempts, children] = await Promise.all([
    interruptsOf(db, ids),
    priorAttempts(db, ids),
    firstChildren(
      db,
      ids.map(({ id }) => id),
    ),
  ])
  return todos.map((todo) => ({
    ...todo,
    interrupts: interrupts.filter((interrupt) => interrupt.todo_id === todo.id),
    prior_attempts: attempts.filter((attempt) => attempt.todo_id === todo.id).map(({ todo_id, ...attempt }) => attempt),
    ...(children.has(todo.id) && { children: children.get(todo.id) }),
  }))
}

/** Every question of these todos, with its answer, oldest first. */
export async function interruptsOf(db: Db, todos: readonly Pick<Todo, 'id'>[]): Promise<Interrupt[]> {
  if (todos.length === 0) return []
  const rows = await db.query({
    name: 'interrupts_of',
    text: `SELECT ${interruptColumns('q')} FROM interrupts q WHERE q.todo_id = ANY($1) ORDER BY q.id`,
    values: [todos.map(({ id }) => id)],
  })
  return rows.map(interruptOf)
}

async function priorAttempts(db: Db, todos: readonly Todo[]): Promise<(Attempt & { todo_id: string })[]> {
  if (todos.length === 0) return []
  return db.query({
    name: 'prior_attempts',
    text: `SELECT a.todo_id, ${attemptColumns('a')} FROM unnest($1::text[]) AS k(id) CROSS JOIN LATERAL (
        SELECT * FROM todo_attempts WHERE todo_id = k.id AND ended_at IS NOT NULL ORDER BY seq DESC LIMIT ${PRIOR}) a
      ORDER BY a.todo_id, a.seq`,
    values: [todos.map(({ id }) => id)],
  })
}
