import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#lib/db/connect'
import type { Live } from '#lib/live/live'
import { createPause } from '#lib/ops/pause'
import { BULK_ROWS, runningBulks, skipInBulk, takeBulkBatch } from '#lib/queue/bulk-batch'
import { isForRows, type Log } from './drain'
import { guarded } from './guarded'
import { createNotices } from './notices'

/** What carries bulk runs out. */
export interface Bulks {
  /** Ends it after the batch under way; the runs go on in another process, or when it comes back. */
  stop(): Promise<void>
}

const LONGEST_SLEEP_MS = 30_000
const HELD_UP_MS = 1000
const TELL_MS = 1000

/**
 * Carries out whatever has been ordered, a batch of each run in turn, until stopped. Of several workers one at a time has
 * a run in hand, and another goes on where it ended. It never runs beside a migration or at another revision.
 */
export function startBulks(database: Database, { live, log }: { live: Live; log: Log }): Bulks {
  const stopping = new AbortController()
  const { signal } = stopping
  const pause = createPause()
  const notice = createNotices()
  const toldAt = new Map<string, number>()
  const off = live.on('bulk', pause.wake)

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const { isIdle, isHeldUp } = await round()
      if (isHeldUp) await sleep(HELD_UP_MS, undefined, { signal }).catch(() => {})
      else if (isIdle) await pause.sleep(LONGEST_SLEEP_MS)
    }
  }

  /** A batch of each run. */
  async function round(): Promise<{ isIdle: boolean; isHeldUp: boolean }> {
    try {
      const ids = await runningBulks(database)
      for (const id of toldAt.keys()) if (!ids.includes(id)) toldAt.delete(id)
      let moved = 0
      for (const id of ids) if (!signal.aborted) moved += await batchOf(id)
      notice({ topic: 'bulk', matter: null, begins: () => {} })
      return { isIdle: ids.length === 0, isHeldUp: ids.length > 0 && moved === 0 }
    } catch (error) {
      const begins = () => log.error({ err: error }, 'bulk runs do not go on; trying again every second')
      notice({ topic: 'bulk', matter: String(error), begins })
      return { isIdle: false, isHeldUp: true }
    }
  }

  async function batchOf(id: string): Promise<number> {
    const now = performance.now()
    const tells = now - (toldAt.get(id) ?? Number.NEGATIVE_INFINITY) >= TELL_MS
    if (tells) toldAt.set(id, now)
    try {
      return await take(id, { limit: BULK_ROWS, tells })
    } catch (error) {
      if (!isForRows(error)) throw error
      return oneByOne(id)
    }
  }

  async function take(id: string, batch: { limit: number; tells: boolean }): Promise<number> {
    const taken = await guarded(database, `bulk ${id}`, (db) => takeBulkBatch(db, id, batch))
    return 'result' in taken ? taken.result : 0
  }

  /** The todos of the batch that failed, each by itself. */
  async function oneByOne(id: string): Promise<number> {
    let taken = 0
    while (taken < BULK_ROWS && !signal.aborted && (await takeOne(id)) > 0) taken++
    return taken
  }

  /** One todo; one that cannot be moved is left out, and the log says why. */
  async function takeOne(id: string): Promise<number> {
    try {
      return await take(id, { limit: 1, tells: false })
    } catch (error) {
      if (!isForRows(error)) throw error
      const skipped = await guarded(database, `bulk ${id}`, (db) => skipInBulk(db, id))
      const todoId = 'result' in skipped ? skipped.result : null
      log.error({ err: error, todo_id: todoId, bulk_id: id }, 'a todo of a bulk run could not be moved; left out')
      return todoId === null ? 0 : 1
    }
  }

  const ended = run()
  return {
    stop: async () => {
      stopping.abort()
      pause.wake()
      off()
      await ended
    },
  }
}
