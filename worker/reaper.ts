import { setTimeout as sleep } from 'node:timers/promises'
import { ring } from '#lib/db/bell'
import type { Database } from '#lib/db/connect'
import type { Live } from '#lib/live/live'
import { gauge, observe } from '#lib/ops/metrics'
import { createPause } from '#lib/ops/pause'
import { type WaitTtls, waitTtls } from '#lib/queue/expire'
import { readSettings } from '#lib/queue/settings'
import { createAlarm } from './alarm'
import { clockOf, LONGEST_SLEEP_SECONDS, readClocks } from './clocks'
import { createDoorbell } from './doorbell'
import type { Log } from './drain'
import type { Refusal } from './guarded'
import { createReports } from './reports'
import { createSkips } from './skips'
import { tick } from './tick'

/** How the reaper stands. */
export interface Standing {
  /** When the last whole tick ended, by the database's clock; null before the first. */
  lastTickAt: string | null
  /** How long ago that was. */
  lastTickMsAgo: number | null
  /** Why the last tick's sweeps were refused, if they were. */
  refused: Refusal | null
}

/** What takes work back from those who are gone. */
export interface Reaper {
  standing(): Standing
  /** Ends it after the batch under way. */
  stop(): Promise<void>
}

const SHORTEST_SLEEP_MS = 10
const HELD_UP_MS = 1000
const LONGEST_SLEEP_MS = LONGEST_SLEEP_SECONDS * 1000

// No wake shortens the first part of a sleep.
interface Sleep {
  floorMs: number
  restMs: number
}

const HELD_UP: Sleep = { floorMs: HELD_UP_MS, restMs: 0 }

/**
 * Ticks until stopped: at least every 30 seconds, and as soon as the earliest clock of a live todo says so. Whatever woke
 * it, a tick runs every sweep. Where it must not or cannot sweep it says why, once, and goes on by itself when it can.
 */
export function startReaper(database: Database, { live, log }: { live: Live; log: Log }): Reaper {
  const stopping = new AbortController()
  const { signal } = stopping
  const pause = createPause()
  const alarm = createAlarm(pause.wake)
  const doorbell = createDoorbell(() => ring(database, 'ready'))
  const reports = createReports(log)
  const skips = createSkips()
  const ranAt = new Map<string, number>()
  const standing: Standing & { endedAt: number | null } = {
    lastTickAt: null,
    lastTickMsAgo: null,
    endedAt: null,
    refused: null,
  }
  let ttls: WaitTtls = { held: 0, parked: 0 }

  const offs = [
    live.on('transition', (fact) => {
      doorbell.hear(fact)
      if (fact.todo) alarm.hear(clockOf(fact.todo, ttls))
    }),
    live.on('setting', pause.wake),
  ]

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const { floorMs, restMs } = await round()
      await sleep(floorMs, undefined, { signal }).catch(() => {})
      if (!signal.aborted) await pause.sleep(restMs)
    }
  }

  /** One tick, and how long to sleep after it. */
  async function round(): Promise<Sleep> {
    const began = performance.now()
    const ticked = await tick({ database, skips, ranAt, log, signal })
    standing.refused = ticked.refused
    reports.ticked(ticked)
    const isElsewhere = ticked.refused === 'migrating' || (ticked.refused !== null && ticked.refused !== 'busy')
    if (isElsewhere || ticked.failures.size > 0) return HELD_UP
    try {
      const wakeInMs = await look()
      reports.looked()
      const ended = performance.now()
      observe('switchboard_reaper_tick_seconds', {}, (ended - began) / 1000)
      // What was overdue when the tick began and still is was skipped, for somebody holds its lock.
      return sleepUntil(wakeInMs, ticked.isHeldUp || wakeInMs <= began - ended)
    } catch (error) {
      reports.looked(error)
      return HELD_UP
    }
  }

  /** Finds the earliest clock, sets the alarm for it and returns how far it is off. */
  async function look(): Promise<number> {
    const settings = await readSettings(database)
    reports.settings(settings)
    ttls = waitTtls(settings)
    await doorbell.look(database)
    alarm.clear()
    const clocks = await readClocks(database, { ttls, except: skips.ids(), since: standing.lastTickAt })
    alarm.set(clocks.wakeAt)
    if (clocks.cameDue) ring(database, 'ready')
    gauge('switchboard_reaper_last_tick_timestamp_seconds', {}, clocks.nowSeconds)
    Object.assign(standing, { lastTickAt: clocks.now, endedAt: performance.now() })
    return clocks.wakeInMs
  }

  function sleepUntil(wakeInMs: number, isHeldUp: boolean): Sleep {
    const floorMs = isHeldUp ? HELD_UP_MS : SHORTEST_SLEEP_MS
    const sleepMs = Math.min(Math.ceil(wakeInMs), skips.nextInMs() ?? LONGEST_SLEEP_MS)
    return { floorMs, restMs: Math.max(0, sleepMs - floorMs) }
  }

  const ended = run()
  return {
    standing: () => {
      const { endedAt, ...told } = standing
      return { ...told, lastTickMsAgo: endedAt === null ? null : performance.now() - endedAt }
    },
    stop: async () => {
      stopping.abort()
      pause.wake()
      for (const off of offs) off()
      await ended
    },
  }
}
