import { z } from 'zod'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { InterruptStatus } from '#lib/model/transitions'
import type { Caller } from '#lib/wire/caller'
import type { Interrupt, InterruptKind } from '#lib/wire/interrupt'
import { id as idSchema } from '#lib/wire/scalars'
import type { Card } from '#lib/wire/todo'
import { cardColumns, cardOf } from '#lib/wire/todo-row'
import { approvalSeconds } from './approval'
import { type WaitTtls, waitTtls } from './expire'
import { interruptColumns, interruptOf } from './interrupt-row'
import { fromCursor, toCursor } from './read-cursor'
import { readTodo } from './read-todo'
import type { Page } from './read-todos'
import { containing, inQueues, searching, Where } from './read-where'
import { readSettings, type Settings } from './settings'

/** Which questions; `status` is open unless said. */
export interface InterruptFilter {
  status?: InterruptStatus | undefined
  kind?: InterruptKind | undefined
  queue?: string | undefined
  risk?: Interrupt['risk'] | undefined
  /** Text in the question's title or message, or its todo's title, in any case. */
  q?: string | undefined
}

/** A question with its deadline (null: it waits without bound, or no more), who asked, and its todo. */
export type PromptCard = Interrupt & {
  expires_at: string | null
  asked_by: string | null
  /** How long an approval is good for once it is given. */
  valid_seconds: number | null
  todo: Card
}

/** One page of questions. */
export interface InterruptList {
  interrupts: PromptCard[]
  next_cursor: string | null
}

type Row = Record<string, unknown>

const PAGE = 50

// A TTL of 0 means that such waits have no clock.
const lapse = (ttlSeconds: number): string =>
  ttlSeconds > 0
    ? `greatest(t.interrupted_at + make_interval(secs => ${ttlSeconds}), t.wait_until)`
    : 'NULL::timestamptz'

const deadline = ({ held, parked }: WaitTtls): string =>
  `CASE WHEN q.status = 'open' THEN CASE WHEN t.owner IS NULL THEN ${lapse(parked)} ELSE ${lapse(held)} END END`

/**
 * Questions with their todos: open ones soonest deadline first (those without one last), closed ones newest first.
 * Refuses a queue outside the caller's with forbidden, a bad cursor or a search that takes too long with validation_failed.
 */
export async function listInterrupts(db: Db, filter: InterruptFilter & Page, caller: Caller): Promise<InterruptList> {
  const { status = 'open', limit = PAGE, q } = filter
  const settings = await readSettings(db)
  const ttls = waitTtls(settings)
  const where = inQueues(
    new Where().and((given) => `q.status = ${given}`, status),
    't.queue',
    filter.queue,
    caller,
  )
    .when(filter.kind, (given) => `q.kind = ${given}`)
    .when(filter.risk, (given) => `q.risk = ${given}`)
    .when(q === undefined ? undefined : containing(q), found)
  const order = status === 'open' ? byDeadline(where, ttls, filter.cursor) : byAge(where, filter.cursor)
  return searching(db, q === undefined ? [] : ['q'], async (tx) => {
    const text = `${select(ttls, order.key)} WHERE ${where.sql} ORDER BY ${order.by} LIMIT ${limit + 1}`
    const rows = await tx.query<Row>({ text, values: where.values })
    const last = rows.length > limit ? rows[limit - 1] : undefined
    return {
      interrupts: await withTodos(tx, rows.slice(0, limit), settings),
      next_cursor: last ? order.cursor(last) : null,
    }
  })
}

/** One question with its deadline and todo, when the caller may read the todo. Else refuses with not_found. */
export async function readInterrupt(db: Db, id: string, caller: Caller): Promise<PromptCard> {
  const settings = await readSettings(db)
  const rows = await db.query<Row>({ text: `${select(waitTtls(settings), 'NULL')} WHERE q.id = $1`, values: [id] })
  const [prompt] = await withTodos(db, rows, settings)
  if (!prompt) throw unseen()
  await readTodo(db, prompt.todo_id, caller).catch((error) => {
    throw error instanceof Refusal ? unseen() : error
  })
  return prompt
}

const unseen = () => new Refusal('not_found', { detail: 'There is no such question' })

const found = (given: string): string =>
  `(q.title ILIKE ${given} OR q.message ILIKE ${given} OR t.title ILIKE ${given})`

const select = (
  ttls: WaitTtls,
  key: string,
): string => `SELECT ${interruptColumns('q')}, ${deadline(ttls)} AS expires_at,
  a.owner AS asked_by, ${key} AS key FROM interrupts q JOIN todos t ON t.id = q.todo_id
  LEFT JOIN todo_attempts a ON a.todo_id = q.todo_id AND a.seq = q.attempt_seq`

/** How a list is ordered: the sort key's SQL, the ORDER BY, and the cursor after a row. */
interface Order {
  key: string
  by: string
  cursor(row: Row): string
}

// The TTLs a list began with go along, so that a change of the setting doesn't shuffle the pages still to come.
const openParts = z.tuple([z.literal('open'), z.int().min(0), z.int().min(0), z.int().nullable(), idSchema])

function byDeadline(where: Where, now: WaitTtls, cursor: string | undefined): Order {
  const [, held, parked, due, last] =
    cursor === undefined ? ['open', now.held, now.parked] : fromCursor(cursor, openParts)
  // Microseconds, which PostgreSQL keeps and the wire's times don't.
  const key = `(extract(epoch FROM ${deadline({ held, parked })}) * 1000000)::bigint`
  if (due === null) where.also(`${key} IS NULL`).and((given) => `q.id > ${given}`, last)
  else if (due !== undefined) {
    where.and((given) => `(${key} > ${due} OR ${key} IS NULL OR (${key} = ${due} AND q.id > ${given}))`, last)
  }
  return { key, by: 'key NULLS LAST, q.id', cursor: (row) => toCursor(['open', held, parked, row.key, row.id]) }
}

const closedParts = z.tuple([z.literal('closed'), idSchema])

function byAge(where: Where, cursor: string | undefined): Order {
  if (cursor !== undefined) where.and((given) => `q.id < ${given}`, fromCursor(cursor, closedParts)[1])
  return { key: 'NULL', by: 'q.id DESC', cursor: (row) => toCursor(['closed', row.id]) }
}

async function withTodos(db: Db, rows: readonly Row[], settings: Settings): Promise<PromptCard[]> {
  if (rows.length === 0) return []
  const cards = await db.query<Row>({
    name: 'cards_of',
    text: `SELECT ${cardColumns('t')} FROM todos t WHERE t.id = ANY($1)`,
    values: [rows.map((row) => row.todo_id)],
  })
  const byId = new Map(cards.map((card) => [card.id, cardOf(card)]))
  return rows.flatMap((row) => {
    const todo = byId.get(row.todo_id)
    if (!todo) return []
    const interrupt = interruptOf(row)
    const { expires_at, asked_by } = row as Pick<PromptCard, 'expires_at' | 'asked_by'>
    const valid_seconds = interrupt.kind === 'approval' ? approvalSeconds(settings)[interrupt.risk] : null
    return [{ ...interrupt, expires_at, asked_by, valid_seconds, todo }]
  })
}
