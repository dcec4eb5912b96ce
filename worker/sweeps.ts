import type { Db } from '#lib/db/connect'
import { type Among, exhaust, expireInterrupts, expireLeases, findLapsed, type SweepName } from '#lib/queue/expire'
import type { Moved } from '#lib/queue/moved'
import { readSettings } from '#lib/queue/settings'

/** One step of the reaper's tick. */
export interface Sweep {
  name: SweepName
  /** At least so many milliseconds between two runs; 0 for a step of every tick. */
  everyMs: number
  /** Whether what it moves is an execution taken back from a worker. */
  isExpiry: boolean
  /** Moves one batch. */
  run(db: Db, among: Among): Promise<Moved[]>
  /** The ids that the next batch would move, for when it fails as a whole. */
  find(db: Db, among: Among): Promise<string[]>
}

// Read on every sweep, so that a change needs no restart.
const ttl = async (db: Db) => ({ ttlSeconds: (await readSettings(db)).interrupt_lease_ttl_seconds.value })

/** The steps of a tick, in order. */
export const SWEEPS: readonly Sweep[] = [
  {
    name: 'expireLease',
    everyMs: 0,
    isExpiry: true,
    run: expireLeases,
    find: (db, among) => findLapsed(db, 'expireLease', { ...among, ttlSeconds: 0 }),
  },
  {
    name: 'expireInterrupt',
    everyMs: 0,
    isExpiry: true,
    run: async (db, among) => expireInterrupts(db, { ...among, ...(await ttl(db)) }),
    find: async (db, among) => findLapsed(db, 'expireInterrupt', { ...among, ...(await ttl(db)) }),
  },
  {
    name: 'exhaust',
    everyMs: 0,
    isExpiry: false,
    run: exhaust,
    find: (db, among) => findLapsed(db, 'exhaust', { ...among, ttlSeconds: 0 }),
  },
]
