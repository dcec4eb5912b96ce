import type { Db } from '#lib/db/connect'
import {
  type Among,
  continueParents,
  exhaust,
  expireBudgets,
  expireDeadlines,
  expireInterrupts,
  expireLeases,
  expireParked,
  findLapsed,
  type SweepName,
  type WaitTtls,
  waitTtls,
} from '#lib/queue/expire'
import { expireEndpoints, findOfEndpoints } from '#lib/queue/expire-endpoints'
import type { Moved } from '#lib/queue/moved'
import { readSettings } from '#lib/queue/settings'

/** What is done batch by batch until there is nothing left. */
export interface Batches {
  name: string
  /** Takes one batch; returns what it took. */
  run(db: Db, among: Among): Promise<readonly unknown[]>
  /** The ids that the next batch would take, for when it fails as a whole. */
  find(db: Db, among: Among): Promise<string[]>
}

/** One step of the reaper's tick. */
export interface Sweep extends Batches {
  name: SweepName | 'expireEndpoints'
  /** At least so many milliseconds between two runs; 0 for a step of every tick. */
  everyMs: number
  /** Whether what it moves was ended by its clock. */
  isExpiry: boolean
}

type Run = (db: Db, among: Among & { ttlSeconds: number }) => Promise<Moved[]>

/** A step of every tick; `wait` is the kind of questions whose deadline ends what it moves. */
function sweep(name: SweepName, run: Run, { isExpiry, wait }: { isExpiry: boolean; wait?: keyof WaitTtls }): Sweep {
  // Read on every sweep, so that a change needs no restart.
  const ttl = async (db: Db) => ({ ttlSeconds: wait ? waitTtls(await readSettings(db))[wait] : 0 })
  return {
    name,
    everyMs: 0,
    isExpiry,
    run: async (db, among) => run(db, { ...among, ...(await ttl(db)) }),
    find: async (db, among) => findLapsed(db, name, { ...among, ...(await ttl(db)) }),
  }
}

/** The steps of a tick, in order. */
export const SWEEPS: readonly Sweep[] = [
  sweep('expireDeadline', expireDeadlines, { isExpiry: false }),
  sweep('expireLease', expireLeases, { isExpiry: true }),
  sweep('expireInterrupt', expireInterrupts, { isExpiry: true, wait: 'held' }),
  sweep('expireParked', expireParked, { isExpiry: true, wait: 'parked' }),
  sweep('exhaust', exhaust, { isExpiry: false }),
  sweep('childrenDone', continueParents, { isExpiry: false }),
  sweep('expireBudget', expireBudgets, { isExpiry: false }),
  { name: 'expireEndpoints', everyMs: 0, isExpiry: false, run: expireEndpoints, find: findOfEndpoints },
]
