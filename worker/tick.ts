import type { Database } from '#lib/db/connect'
import { type Drained, drain, type Log } from './drain'
import type { Refusal } from './guarded'
import type { Skips } from './skips'
import { SWEEPS, type Sweep } from './sweeps'

/** What a tick works with. */
export interface Ticking {
  database: Database
  skips: Skips
  /** When each sweep last ran, on the process's own clock; kept from tick to tick. */
  ranAt: Map<string, number>
  log: Log
  /** Ends it after the batch under way. */
  signal: AbortSignal
}

/** What a tick did. */
export interface Ticked {
  /** Executions taken back, over all sweeps. */
  expiries: number
  exhausted: number
  /** Todos that endpoints out of force still had. */
  revoked: number
  /** Whether something is left that must not be tried again at once: a skip, an error, a lock of somebody else. */
  isHeldUp: boolean
  /** Why sweeps were refused, if any was. */
  refused: Refusal | null
  /** The sweeps that failed, and why. */
  failures: Map<string, unknown>
}

/** Runs every sweep whose turn it is, in order; one that throws or is refused never stops the others. */
export async function tick(ticking: Ticking): Promise<Ticked> {
  const ticked: Ticked = { expiries: 0, exhausted: 0, revoked: 0, isHeldUp: false, refused: null, failures: new Map() }
  for (const sweep of SWEEPS.filter((one) => isItsTurn(ticking, one))) {
    if (ticking.signal.aborted) break
    ticking.ranAt.set(sweep.name, performance.now())
    try {
      add(ticked, sweep, await drain({ ...ticking, sweep }))
    } catch (error) {
      ticked.failures.set(sweep.name, error)
      ticked.isHeldUp = true
    }
  }
  return ticked
}

const isItsTurn = ({ ranAt }: Ticking, { name, everyMs }: Sweep): boolean =>
  performance.now() - (ranAt.get(name) ?? Number.NEGATIVE_INFINITY) >= everyMs

function add(ticked: Ticked, { name, isExpiry }: Sweep, { moved, skipped, refused }: Drained): void {
  if (isExpiry) ticked.expiries += moved
  else if (name === 'expireEndpoints') ticked.revoked += moved
  else ticked.exhausted += moved
  ticked.isHeldUp ||= skipped > 0 || refused !== null
  if (refused !== null && typeof ticked.refused !== 'object') ticked.refused = refused
  ticked.refused ??= refused
}
