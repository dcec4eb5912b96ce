import type { Database, Db } from '#lib/db/connect'
import { MIGRATION_LOCK, type Revision, revision } from '#lib/db/revision'

/** Why a sweep may not run: a migration is under way, another reaper is at it, or the database is of another revision. */
export type Refusal = 'migrating' | 'busy' | Revision

/** What a guarded piece of work gave, or why it did not run. */
export type Guarded<Result> = { result: Result } | { refused: Refusal }

// A statement of its own: a snapshot taken before the lock could show a revision that a migration has changed meanwhile.
// Sweeps read their rows in the order of a partial index and stop at a batch. With statistics from before a mass of leases
// lapsed the planner would rather collect and sort all of them for every batch (100 000 rows: minutes instead of seconds).
const LOCKS = `SELECT pg_try_advisory_xact_lock_shared(${MIGRATION_LOCK}) AS unmigrated,
  pg_try_advisory_xact_lock(hashtextextended('switchboard sweep ' || $1, 0)) AS alone,
  set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`

/**
 * Runs one batch of a sweep in a transaction of its own: never beside a migration, never beside the same sweep of another
 * reaper, and only when the database's newest migration is this build's, as it is inside the transaction.
 */
export function guarded<Result>(
  database: Database,
  sweep: string,
  work: (db: Db) => Promise<Result>,
): Promise<Guarded<Result>> {
  return database.transaction<Guarded<Result>>(async (db) => {
    const [locks] = await db.query<{ unmigrated: boolean; alone: boolean }>({
      name: 'sweep_locks',
      text: LOCKS,
      values: [sweep],
    })
    if (!locks?.unmigrated) return { refused: 'migrating' }
    if (!locks.alone) return { refused: 'busy' }
    const found = await revision(db)
    return found.matches ? { result: await work(db) } : { refused: found }
  })
}
