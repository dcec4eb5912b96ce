import { mkdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { claimHome } from './claim.mjs'
import { ensureReachable, ensureUsable } from './database.mjs'
import { parseFlags, USAGE } from './flags.mjs'
import { homeFolder, publishInstance, ROOT } from './instance.mjs'
import { ensurePortsFree, reachableHost } from './ports.mjs'
import { ensureBuilt, ensureGenerated, ensureInstalled, isBuilt } from './prepare.mjs'
import { Problem } from './problem.mjs'
import { identify } from './processes.mjs'
import { createProgress, painter, seconds } from './progress.mjs'
import { createServices } from './services.mjs'
import { stopRequest } from './stop-request.mjs'
import { runTool, ToolFailed } from './tool.mjs'

/** @typedef {import('./flags.mjs').Flags} Flags */
/** @typedef {import('./progress.mjs').Progress} Progress */
/** @typedef {import('./claim.mjs').Claim} Claim */
/**
 * @typedef {object} Plan how the parts are run
 * @property {'production' | 'development'} mode
 * @property {string[]} migrate Node's arguments for the migration runner
 * @property {string[]} web for the web process
 * @property {string[]} worker for the worker
 */

/** @type {Plan} What `npm start` runs: bundles. */
export const PRODUCTION = {
  mode: 'production',
  migrate: ['dist/migrate.mjs'],
  web: ['dist/web.mjs'],
  worker: ['dist/worker.mjs'],
}

/** @type {Plan} What `npm run dev` runs: the sources, the pages built when asked for, the worker anew on every change. */
export const DEVELOPMENT = {
  mode: 'development',
  migrate: ['--import', 'tsx', 'prisma/migrate.ts'],
  web: ['--import', 'tsx', 'lib/api/web.ts'],
  worker: ['node_modules/tsx/dist/cli.mjs', 'watch', '--clear-screen=false', 'worker/main.ts'],
}

const OUTDATED = 3

/** Prepares and runs Switchboard until it is asked to stop, and ends the process.
 * @param {Plan} plan @param {string[]} argv */
export async function launch(plan, argv) {
  // A terminal that is gone is no reason to leave anything running.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  process.exit(await run(plan, argv))
}

async function run(/** @type {Plan} */ plan, /** @type {string[]} */ argv) {
  const stop = stopRequest()
  /** @type {Claim | null} */
  let claim = null
  /** @type {import('./services.mjs').Services | null} */
  let services = null
  try {
    const flags = parseFlags(argv, process.env)
    if (flags.isHelp) return say(USAGE)
    const began = performance.now()
    const progress = createProgress()
    claim = await claimHome()
    services = createServices({ claim, progress, signal: stop.signal })
    await bringUp({ plan, flags, progress, services, signal: stop.signal })
    progress.line(`  ${seconds(performance.now() - began)}`)
    await stop.requested
    return 0
  } catch (error) {
    if (stop.signal.aborted) return stop.exitCode
    explain(error)
    return 1
  } finally {
    await services?.stop()
    claim?.release()
  }
}
