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
/** @typedef {{ name: string, args: string[], env: Record<string, string | undefined>, url: string }} Service a process of ours and where it answers */
/** @typedef {{ claim: import('./claim.mjs').Claim, progress: import('./progress.mjs').Progress, signal: AbortSignal }} Surroundings */
/** @typedef {ReturnType<typeof createServices>} Services */

const READY_TIMEOUT_MS = 60_000
const STOP_MS = 3800
const ALL_STOP_MS = 4500
const BOUND_EVERY_MS = 60_000

/** What a start runs: each kept running, each with its log, and all of it ended in order by `stop`, within 5 seconds.
 * @param {Surroundings} surroundings */
export function createServices({ claim, progress, signal }) {
  const logs = join(homeFolder(), 'logs')
  mkdirSync(logs, { recursive: true })
  const ownLog = openLog(join(logs, 'supervisor.log'))
  const show = listener(progress)
  /** @type {import('./child.mjs').Said[]} */
  const notices = []
  let isAnnounced = false
  /** @type {import('./child.mjs').Hear} What is meant for the person waits until everything is ready. */
  const hear = (said) => {
    if (said.level === 'notice' && !isAnnounced) notices.push(said)
    else show(said)
  }
  /** @type {Keeper[]} */
  const services = []
  /** @type {Keeper | null} */
  let database = null
  const report = (/** @type {string} */ text) => {
    ownLog.write(`${new Date().toISOString()} ${text}\n`)
    hear({ level: 'warning', text })
  }

  /** Starts the embedded PostgreSQL and returns its address, which stays the same for as long as we run. */
  async function startDatabase() {
    const logFile = join(logs, 'postgres.log')
    boundLog(logFile)
    setInterval(() => boundLog(logFile), BOUND_EVERY_MS).unref()
    const start = async (/** @type {number | undefined} */ port) => {
      const server = await startPostgres({ dataDir: join(homeFolder(), 'postgres'), port, logFile, signal })
      claim.record('database', identify(server.pid))
      return { ...server, stop: (/** @type {number} */ timeoutMs) => server.stop({ timeoutMs }) }
    }
    const first = await start(undefined)
    database = supervise({ name: 'database', first, start: () => start(first.port), report })
    return first
  }

  /** Starts a process of ours and returns once it is ready to serve.
   * @param {Service} service */
  async function startService({ name, args, env, url }) {
    const logFile = join(logs, `${name}.log`)
    const log = openLog(logFile)
    const start = async () => {
      const child = startChild({ name, args, env, log, hear })
      claim.record(name, identify(child.pid))
      return child
    }
    const first = await start()
    /** @type {Keeper} */
    const slot = { stop: first.stop }
    services.push(slot)
    if (!(await answersReady(url, { exited: first.exited, timeoutMs: READY_TIMEOUT_MS, signal }))) {
      signal.throwIfAborted()
      throw new Problem(`The ${name} process did not become ready. Its log: ${logFile}`)
    }
    slot.stop = supervise({ name, first, start, report }).stop
  }

  /** Shows what the processes had to tell a person, now that it can be used, and from now on at once. */
  function announce() {
    isAnnounced = true
    notices.splice(0).forEach(show)
  }

  /** Ends the services and then the database they use. */
  async function stop() {
    const began = Date.now()
    await Promise.all(services.map((service) => service.stop(STOP_MS)))
    await database?.stop(Math.max(ALL_STOP_MS - (Date.now() - began), ALL_STOP_MS - STOP_MS))
    ownLog.close()
  }

  return { startDatabase, startService, announce, stop }
}

/** Shows what a process has to say above whatever step is under way.
 * @param {import('./progress.mjs').Progress} progress @returns {import('./child.mjs').Hear} */
function listener(progress) {
  const paint = painter(process.stdout)
  const colours = /** @type {const} */ ({ warning: 'yellow', error: 'red', notice: 'bold' })
  return ({ level, text }) => progress.line(`  ${paint(colours[level], text)}`)
}
