import type { Database } from '#lib/db/connect'
import type { log } from '#lib/ops/log'
import { type Among, SWEEP_ROWS } from '#lib/queue/expire'
import { guarded, type Refusal } from './guarded'
import type { Skips } from './skips'
import type { Batches } from './sweeps'

/** Where the worker writes what people should know. */
export type Log = Pick<typeof log, 'info' | 'warn' | 'error'>

/** What a sweep works with. */
export interface Draining {
  database: Database
  sweep: Batches
  skips: Skips
  log: Log
  /** Ends it after the batch under way. */
  signal: AbortSignal
}

/** How many todos a sweep moved and left alone, and why it stopped early if it was refused. */
export interface Drained {
  moved: number
  skipped: number
  refused: Refusal | null
}

// More than that is no row's fault any more.
const MOST_SKIPPED = 100

/**
 * Runs a sweep batch by batch until there is nothing left. When a batch fails for a row's sake, that row is found by halving,
 * left alone for a while and logged with its id, and the others are moved. Throws when it fails for any other reason.
 */
export async function drain(draining: Draining): Promise<Drained> {
  const { skips, signal } = draining
  const drained: Drained = { moved: 0, skipped: 0, refused: null }
  for (let isLast = false; !isLast && !drained.refused && !signal.aborted; ) {
    const except = skips.ids()
    try {
      const moved = await takeBatch(draining, drained, { except })
      isLast = moved < SWEEP_ROWS
    } catch (error) {
      if (!isForRows(error)) throw error
      await halve(draining, drained, await draining.sweep.find(draining.database, { except }))
    }
  }
  return drained
}

async function takeBatch({ database, sweep }: Draining, drained: Drained, among: Among): Promise<number> {
  const batch = await guarded(database, sweep.name, (db) => sweep.run(db, among))
  if ('refused' in batch) {
    drained.refused = batch.refused
    return 0
  }
  drained.moved += batch.result.length
  return batch.result.length
}

async function halve(draining: Draining, drained: Drained, ids: string[]): Promise<void> {
  if (ids.length === 0 || drained.refused || draining.signal.aborted) return
  try {
    await takeBatch(draining, drained, { only: ids })
  } catch (error) {
    if (!isForRows(error)) throw error
    const [id] = ids
    if (ids.length === 1 && id) return skip(draining, drained, { id, error })
    const middle = Math.ceil(ids.length / 2)
    await halve(draining, drained, ids.slice(0, middle))
    await halve(draining, drained, ids.slice(middle))
  }
}

function skip({ sweep, skips, log }: Draining, drained: Drained, { id, error }: { id: string; error: unknown }): void {
  if (++drained.skipped > MOST_SKIPPED) throw error
  const retryMs = skips.add(id)
  log.error({ err: error, todo_id: id, sweep: sweep.name, retry_ms: retryMs }, 'a todo could not be moved; skipped')
}

const NOT_FOR_ROWS = new Set(['08', '40', '53', '55', '57'])

/** Whether an error says something about a row. Lost connections, conflicts, exhaustion, locks and shutdowns don't: the same batch may succeed later. */
export function isForRows(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !NOT_FOR_ROWS.has(code.slice(0, 2))
}
