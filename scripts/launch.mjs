import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { claimHome } from './claim.mjs'
import { ensureReachable, ensureUsable } from './database.mjs'
import { parseFlags, refuseWrongVariables, USAGE } from './flags.mjs'
import { homeFolder, ROOT } from './instance.mjs'
import { ensurePortsFree, reachableHost } from './ports.mjs'
import { ensureBuilt, ensureGenerated, ensureInstalled, isBuilt } from './prepare.mjs'
import { Problem } from './problem.mjs'
import { createProgress, painter, seconds } from './progress.mjs'
import { createServices } from './services.mjs'
import { stopRequest } from './stop-request.mjs'
import { runTool } from './tool.mjs'

/**
 * @typedef {object} Plan how the parts are run
 * @property {'production' | 'development'} mode
 * @property {string[]} migrate Node's arguments for the migration runner
 * @property {string[]} web for the web process
 * @property {string[]} worker for the worker
 */
/**
 * @typedef {object} Start one start under way
 * @property {Plan} plan
 * @property {import('./flags.mjs').Flags} flags
 * @property {import('./progress.mjs').Progress} progress
 * @property {import('./services.mjs').Services} services
 * @property {import('./claim.mjs').Claim} claim
 * @property {AbortSignal} signal
 */

/** @type {Plan} What `npm start` runs: bundles. */
export const PRODUCTION = {
  mode: 'production',
  migrate: ['dist/migrate.mjs'],
  web: ['dist/web.mjs'],
  worker: ['dist/worker.mjs'],
}

/** @type {Plan} What `npm run dev` runs: the sources, pages built when asked for, the worker anew on every change. */
export const DEVELOPMENT = {
  mode: 'development',
  migrate: ['--import', 'tsx', 'prisma/migrate.ts'],
  web: ['--import', 'tsx', 'lib/api/web.ts'],
  worker: ['node_modules/tsx/dist/cli.mjs', 'watch', '--clear-screen=false', 'worker/main.ts'],
}

const paint = painter(process.stdout)

/** Prepares and runs Switchboard until it is asked to stop, then ends this process.
 * @param {Plan} plan @param {string[]} argv */
export async function launch(plan, argv) {
  // A terminal that went away is no reason to leave anything running.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  process.exit(await run(plan, argv))
}

async function run(/** @type {Plan} */ plan, /** @type {string[]} */ argv) {
  const stop = stopRequest()
  try {
    const flags = parseFlags(argv, process.env)
    if (flags.isHelp) process.stdout.write(USAGE)
    else {
      refuseWrongVariables(flags, process.env)
      await runUntil(stop, { plan, flags })
    }
    return 0
  } catch (error) {
    if (stop.signal.aborted) return stop.exitCode()
    process.stderr.write(`\n  ${paint('red', explain(error).replaceAll('\n', '\n  '))}\n\n`)
    return 1
  }
}

/** @param {import('./stop-request.mjs').StopRequest} stop @param {Pick<Start, 'plan' | 'flags'>} asked */
async function runUntil({ signal, requested }, { plan, flags }) {
  const began = performance.now()
  const progress = createProgress()
  progress.line(`\n  ${paint('bold', `Switchboard ${version()}`)}${paint('dim', `  Node ${process.versions.node}`)}\n`)
  const claim = await claimHome()
  const services = createServices({ claim, progress, signal })
  try {
    const url = await bringUp({ plan, flags, progress, services, claim, signal })
    progress.line(`\n  ${paint('green', 'Ready')}  ${paint('bold', url)}${paint('dim', `  ${since(began)}`)}`)
    progress.line(paint('dim', `  Ctrl-C stops it. Data and logs: ${homeFolder()}\n`))
    services.announce()
    await requested
    progress.line(paint('dim', '  Stopping'))
  } finally {
    await services.stop()
    claim.release()
  }
}

/** @param {Start} start @returns {Promise<string>} the address that people open */
async function bringUp(start) {
  const { plan, flags, progress, claim, signal } = start
  const given = process.env.DATABASE_URL
  await ensurePortsFree({ host: flags.host, ports: { web: flags.port, worker: flags.port + 1 } })
  if (given) await ensureReachable(given)
  const isProduction = plan.mode === 'production'
  const preparing = { progress, signal, record: claim.record }
  await ensureInstalled({ ...preparing, withDev: !(isProduction && isBuilt()) })
  await ensureGenerated(preparing)
  if (isProduction) await ensureBuilt(preparing)
  const databaseUrl = given ? await checkDatabase(given, start) : await startDatabase(start)
  await migrate(databaseUrl, start)
  const address = { ...(await startServices(databaseUrl, start)), database_url: databaseUrl }
  signal.throwIfAborted()
  claim.publish({ ...address, started_at: new Date().toISOString() })
  return address.url
}

function checkDatabase(/** @type {string} */ url, /** @type {Start} */ { progress }) {
  return progress.step('Database', async (tell) => {
    tell(await ensureUsable(url))
    return url
  })
}

function startDatabase(/** @type {Start} */ { progress, services }) {
  return progress.step('Database', async (tell) => {
    tell('starting PostgreSQL')
    const { url, port, version, folder } = await services.startDatabase()
    const elsewhere = folder.startsWith(realpathSync(homeFolder())) ? '' : `, its files in ${folder}`
    tell(`PostgreSQL ${version} on port ${port}${elsewhere}`)
    return url
  })
}

function migrate(/** @type {string} */ databaseUrl, /** @type {Start} */ { plan, progress, claim, signal }) {
  return progress.step('Migrations', (tell) =>
    runTool([process.execPath, ...plan.migrate, 'up'], {
      failure: 'The database could not be brought up to date.',
      env: { DATABASE_URL: databaseUrl, NODE_ENV: plan.mode },
      signal,
      tell,
      record: claim.record,
    }),
  )
}

function startServices(/** @type {string} */ databaseUrl, /** @type {Start} */ { plan, flags, progress, services }) {
  const env = { ...process.env, DATABASE_URL: databaseUrl, SWITCHBOARD_HOST: flags.host, NODE_ENV: plan.mode }
  const host = reachableHost(flags.host)
  const start = async (/** @type {'web' | 'worker'} */ name, /** @type {number} */ port) => {
    const url = `http://${host}:${port}`
    await services.startService({ name, args: plan[name], env: { ...env, SWITCHBOARD_PORT: String(port) }, url })
    return url
  }
  return progress.step('Processes', async (tell) => {
    tell('starting web and worker')
    const [url, worker_url] = await Promise.all([start('web', flags.port), start('worker', flags.port + 1)])
    tell('web and worker')
    return { url, worker_url }
  })
}

const since = (/** @type {number} */ began) => seconds(performance.now() - began)

const version = () => JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version

/** What goes wrong outside of us is told in a sentence; a fault of ours with its stack. */
function explain(/** @type {unknown} */ error) {
  if (error instanceof Problem) return error.message
  const { syscall, message, stack } = /** @type {NodeJS.ErrnoException} */ (error)
  return syscall ? message : (stack ?? String(error))
}
