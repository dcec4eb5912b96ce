import { z } from 'zod'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { BulkOutcome, BulkResult, BulkRun } from '#lib/wire/bulk'
import type { Caller } from '#lib/wire/caller'
import { id as idSchema } from '#lib/wire/scalars'
import { bulkColumns } from './bulk-row'
import { fromCursor, toCursor } from './read-cursor'
import type { Page } from './read-todos'
import { Where } from './read-where'

const PAGE = 50

/** A bulk run. Refuses with not_found, also where the caller sees some queues only and somebody else ordered it. */
export async function readBulk(db: Db, id: string, caller: Caller): Promise<BulkRun> {
  const where = visible(caller).and((given) => `r.id = ${given}`, id)
  const [run] = await db.query<BulkRun>({ text: select(where), values: where.values })
  if (run) return run
  throw new Refusal('not_found', { detail: 'There is no such bulk run' })
}

const runCursor = z.tuple([z.literal('bulks'), idSchema])

/** Bulk runs, newest first. Refuses a bad cursor with validation_failed. */
export async function listBulks(db: Db, { limit = PAGE, cursor }: Page, caller: Caller) {
  const where = visible(caller)
  if (cursor !== undefined) where.and((given) => `r.id < ${given}`, fromCursor(cursor, runCursor)[1])
  const text = `${select(where)} ORDER BY r.id DESC LIMIT ${limit + 1}`
  const rows = await db.query<BulkRun>({ text, values: where.values })
  const bulks = rows.slice(0, limit)
  const last = bulks.at(-1)
  return { bulks, next_cursor: rows.length > limit && last ? toCursor(['bulks', last.id]) : null }
}

const select = (where: Where): string => `SELECT ${bulkColumns('r').all} FROM bulk_runs r WHERE ${where.sql}`

// Who sees some queues only must not learn from others' runs what is in the rest.
const visible = ({ queues, id }: Caller): Where =>
  new Where().when(queues ? id : undefined, (given) => `r.ordered_by ->> 'id' = ${given}`)

const OUTCOMES: Record<BulkOutcome, string> = {
  done: 'b.at IS NOT NULL AND b.code IS NULL',
  failed: 'b.code IS NOT NULL',
  left: 'b.at IS NULL',
}

/** Which results: those of one outcome, or all. */
export interface ResultPage extends Page {
  outcome?: BulkOutcome | undefined
}

const resultCursor = z.tuple([z.literal('bulk_results'), z.string()])

/** What became of the todos of a run that `readBulk` found, by id. Refuses a bad cursor with validation_failed. */
export async function listBulkResults(
  db: Db,
  { id }: Pick<BulkRun, 'id'>,
  { limit = PAGE, cursor, outcome, caller }: ResultPage & { caller: Caller },
): Promise<{ results: BulkResult[]; next_cursor: string | null }> {
  const where = new Where().and((given) => `b.bulk_id = ${given}`, id)
  if (outcome) where.also(OUTCOMES[outcome])
  if (cursor !== undefined) where.and((given) => `b.todo_id > ${given}`, fromCursor(cursor, resultCursor)[1])
  const queues = where.values.push(caller.queues)
  const rows = await db.query<BulkResult>({
    text: `SELECT b.todo_id, t.title, CASE WHEN b.at IS NOT NULL THEN b.code IS NULL END AS ok, b.code, b.detail, b.at
      FROM bulk_results b LEFT JOIN todos t ON t.id = b.todo_id AND ($${queues}::text[] IS NULL OR t.queue = ANY($${queues}))
      WHERE ${where.sql} ORDER BY b.todo_id LIMIT ${limit + 1}`,
    values: where.values,
  })
  const results = rows.slice(0, limit)
  const last = results.at(-1)
  return { results, next_cursor: rows.length > limit && last ? toCursor(['bulk_results', last.todo_id]) : null }
}
