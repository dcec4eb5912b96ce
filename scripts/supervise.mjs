import { setTimeout as sleep } from 'node:timers/promises'
import { seconds } from './progress.mjs'

/** @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Exit */
/** @typedef {{ pid: number, exited: Promise<Exit>, stop: (timeoutMs: number) => Promise<void> }} Running a live process */
/** @typedef {{ firstMs: number, mostMs: number, healthyMs: number }} Backoff */
/** @typedef {{ stop: (timeoutMs: number) => Promise<void> }} Keeper */

/** @type {Backoff} */
const BACKOFF = { firstMs: 500, mostMs: 15_000, healthyMs: 60_000 }

/** Keeps something that runs running: whenever it ends by itself it is started again, soon at first and slower with every
 * failure, until it has been well for a minute.
 * @param {{ name: string, first: Running, start: () => Promise<Running>, report: (text: string) => void, backoff?: Backoff }} options
 * @returns {Keeper} */
export function supervise({ name, first, start, report, backoff = BACKOFF }) {
  const stopping = new AbortController()
  /** @type {Running | null} */
  let current = first
  let failures = 0

  async function keep() {
    while (current) {
      const began = performance.now()
      const exit = await current.exited
      current = null
      if (performance.now() - began >= backoff.healthyMs) failures = 0
      if (!stopping.signal.aborted) current = await startAgain(how(exit))
    }
  }

  async function startAgain(/** @type {string} */ ended) {
    let why = ended
    for (;;) {
      const delay = Math.min(backoff.firstMs * 2 ** failures++, backoff.mostMs)
      report(`${name} ${why}; starting it again in ${seconds(delay)}`)
      const isStopping = await sleep(delay, false, { signal: stopping.signal }).catch(() => true)
      if (isStopping) return null
      try {
        const running = await start()
        if (!stopping.signal.aborted) {
          report(`${name} runs again`)
          return running
        }
        await running.stop(1000)
        return null
      } catch (error) {
        if (stopping.signal.aborted) return null
        why = `did not start (${/** @type {Error} */ (error).message})`
      }
    }
  }

  const kept = keep()
  return {
    stop: async (timeoutMs) => {
      stopping.abort()
      await current?.stop(timeoutMs)
      await kept
    },
  }
}

const how = (/** @type {Exit} */ { code, signal }) => (signal ? `was ended by ${signal}` : `ended with code ${code}`)
