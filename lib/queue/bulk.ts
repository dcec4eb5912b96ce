import { v7 as uuidv7 } from 'uuid'
import { ring } from '#lib/db/bell'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { TRANSITIONS } from '#lib/model/transitions'
import type { BulkRun, NewBulk } from '#lib/wire/bulk'
import type { Caller } from '#lib/wire/caller'
import { bulkColumns } from './bulk-row'
import { literals } from './move'
import { readBulk } from './read-bulk'
import { matching } from './read-todos'

/**
 * Orders one thing for many todos: those of these ids, or those that match now, so that it ends however many come after.
 * The worker carries it out as this caller. Refuses a queue outside the caller's with forbidden.
 */
export async function orderBulk(db: Db, order: NewBulk, caller: Caller): Promise<{ bulk_id: string; matched: number }> {
  const id = uuidv7()
  const { action, ids, filter, reason } = order
  return db.transaction(async (tx) => {
    // What is asked for decides how it is found.
    await tx.query({ text: `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)` })
    await tx.query({
      text: `INSERT INTO bulk_runs (id, action, reason, filter, ordered_by, matched) VALUES ($1, $2, $3, $4, $5, 0)`,
      values: [id, action, reason, filter, JSON.stringify(caller)],
    })
    const chosen = ids ? byId(ids) : byFilter(order, caller)
    const at = chosen.values.length + 1
    const [made] = await tx.query<{ matched: number }>({
      text: `WITH made AS (INSERT INTO bulk_results (bulk_id, todo_id) SELECT $${at}, c.id FROM (${chosen.sql}) c(id) RETURNING 1)
        SELECT count(*)::int AS matched FROM made`,
      values: [...chosen.values, id],
    })
    await tx.query({
      text: `UPDATE bulk_runs SET matched = $2::int, status = CASE WHEN $2::int = 0 THEN 'completed' ELSE status END,
        ended_at = CASE WHEN $2::int = 0 THEN now() END WHERE id = $1`,
      values: [id, made?.matched],
    })
    await tellOfBulk(tx, id)
    return { bulk_id: id, matched: made?.matched ?? 0 }
  })
}

const byId = (ids: readonly string[]) => ({ sql: 'SELECT DISTINCT unnest($1::text[])', values: [ids] as unknown[] })

function byFilter({ action, filter = {} }: NewBulk, caller: Caller): { sql: string; values: unknown[] } {
  const where = matching(filter, caller)
  const states = filter.state ?? TRANSITIONS[action].from
  return {
    sql: `SELECT t.id FROM todos t WHERE t.state IN (${literals(states)}) AND ${where.sql}`,
    values: where.values,
  }
}

/** Writes how a run stands into the log, for those who watch and for the worker that is to begin. */
export async function tellOfBulk(db: Db, id: string): Promise<void> {
  await db.query({
    name: 'tell_of_bulk',
    text: `INSERT INTO todo_events (verb, actor, data) SELECT 'bulk', r.ordered_by_actor, jsonb_build_object('bulk_id', r.id,
      'action', r.action, 'status', r.status, 'matched', r.matched, 'done', r.done, 'failed', r.failed)
      FROM (SELECT *, ${bulkColumns('r').actor} AS ordered_by_actor FROM bulk_runs r WHERE id = $1) r`,
    values: [id],
  })
  db.afterCommit(() => ring(db.root, 'log'))
}

/**
 * Stops a run before its next batch; what it has done stays done. Stopped before, it stays so. Refuses with not_found,
 * invalid_state (it is over).
 */
export async function cancelBulk(db: Db, id: string, caller: Caller): Promise<BulkRun> {
  await readBulk(db, id, caller)
  await db.transaction(async (tx) => {
    const stopped = await tx.query({
      text: `UPDATE bulk_runs SET status = 'canceled', ended_at = now(), updated_at = now()
        WHERE id = $1 AND status = 'running' RETURNING id`,
      values: [id],
    })
    if (stopped.length > 0) await tellOfBulk(tx, id)
  })
  const run = await readBulk(db, id, caller)
  if (run.status === 'completed') throw new Refusal('invalid_state', { detail: 'The run is over' })
  return run
}
