import type { Database } from '#lib/db/connect'
import { type Drained, drain, type Log } from './drain'
import type { Refusal } from './guarded'
import type { Skips } from './skips'
import { SWEEPS, type Sweep } from './sweeps'

/** What a tick works with. */
export interface Ticking {
  database: Database
  skips: Skips
  log: Log
  signal: AbortSignal
}

/** What a tick did. */
export interface Ticked {
  /** Executions taken back, over all sweeps. */
  expiries: number
  exhausted: number
  /** Whether something is left that must not be tried again at once: a skip, an error, a lock of somebody else. */
  isHeldUp: boolean
  /** The first reason why a sweep was refused. */
  refused: Refusal | null
  /** The steps that failed, with why. */
  failures: Map<string, unknown>
}

/** Runs every step once, in order; one that throws or is refused never stops the others. */
export async function tick(ticking: Ticking): Promise<Ticked> {
  const ticked: Ticked = { expiries: 0, exhausted: 0, isHeldUp: false, refused: null, failures: new Map() }
  for (const sweep of SWEEPS) {
    if (ticking.signal.aborted) break
    try {
      add(ticked, sweep, await drain({ ...ticking, sweep }))
    } catch (error) {
      ticked.failures.set(sweep.name, error)
      ticked.isHeldUp = true
    }
  }
  return ticked
}

function add(ticked: Ticked, { isExpiry }: Sweep, { moved, skipped, refused }: Drained): void {
  if (isExpiry) ticked.expiries += moved
  else ticked.exhausted += moved
  ticked.isHeldUp ||= skipped > 0 || refused !== null
  ticked.refused ??= refused
}
