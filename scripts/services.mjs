import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { answersReady, startChild } from './child.mjs'
import { homeFolder } from './instance.mjs'
import { boundLog, openLog } from './logs.mjs'
import { startPostgres } from './postgres.mjs'
import { Problem } from './problem.mjs'
import { identify } from './processes.mjs'
import { painter } from './progress.mjs'
import { supervise } from './supervise.mjs'

/** @typedef {import('./supervise.mjs').Keeper} Keeper */
/** @typedef {{ name: string, args: string[], env: NodeJS.ProcessEnv, url: string }} Service a process of ours and where it answers */
/** @typedef {{ claim: import('./claim.mjs').Claim, progress: import('./progress.mjs').Progress, signal: AbortSignal }} Surroundings */
/** @typedef {ReturnType<typeof createServices>} Services */

const READY_TIMEOUT_MS = 60_000
const STOP_MS = 4000
const DATABASE_STOP_MS = 800
const BOUND_EVERY_MS = 60_000

/** What a start runs: each kept running, each with its log, and all of it ended in order by `stop`, within 5 seconds.
 * @param {Surroundings} surroundings */
export function createServices({ claim, progress, signal }) {
  const logs = join(homeFolder(), 'logs')
  mkdirSync(logs, { recursive: true })
  const ownLog = openLog(join(logs, 'supervisor.log'))
  const hear = listener(progress)
  /** @type {Keeper[]} */
  const services = []
  /** @type {Keeper | null} */
  let database = null
  const report = (/** @type {string} */ text) => {
    ownLog.write(`${new Date().toISOString()} ${text}\n`)
    hear({ level: 'warning', text })
  }

  return {
    /** Starts the embedded PostgreSQL and returns its address, which stays the same for as long as we run. */
    async startDatabase() {
      const logFile = join(logs, 'postgres.log')
      const options = { dataDir: join(homeFolder(), 'postgres'), logFile, signal }
      boundLog(logFile)
      setInterval(() => boundLog(logFile), BOUND_EVERY_MS).unref()
      const { url, port, pid, exited, stop } = await startPostgres(options)
      const running = (/** @type {import('./postgres.mjs').Postgres} */ server) => ({
        pid: server.pid,
        exited: server.exited,
        stop: (/** @type {number} */ timeoutMs) => server.stop({ timeoutMs }),
      })
      database = supervise({
        name: 'database',
        first: { pid, exited, stop: (timeoutMs) => stop({ timeoutMs }) },
        start: async () => running(await startPostgres({ ...options, port })),
        report,
      })
      return { url, port, pid }
    },

    /** Starts a process of ours and returns its pid once it is ready to serve.
     * @param {Service} service */
    async startService({ name, args, env, url }) {
      const log = openLog(join(logs, `${name}.log`))
      const start = async () => {
        const child = startChild({ name, args, env, log, hear })
        claim.record(name, identify(child.pid))
        return child
      }
      const first = await start()
      services.push(supervise({ name, first, start, report }))
      return first.pid
    },

    /** Ends the services and then the database they use. */
    async stop() {
      await Promise.all(services.map((service) => service.stop(STOP_MS)))
      await database?.stop(DATABASE_STOP_MS)
      ownLog.close()
    },
  }
}
