import { BadEnvironment } from '#lib/model/environment'
import { log } from '#lib/ops/log'
import { type Core, processCore } from './core'
import { type Environment, readEnvironment } from './environment'
import { inviteByLink } from './first-admin'
import type { Pages } from './pages'
import { serve, type WebServer } from './web-server'

// Whoever started us ends us for good 4 s after asking; calls get most of that.
const GRACE_MS = 2500
const MOST_STOP_MS = 3700

interface Running {
  core: Core
  pages: Pages | null
  server: WebServer
}

/**
 * Runs the web process until SIGTERM, SIGINT or the end of whoever started it: then it takes no more calls, answers the
 * waiting ones empty, lets the others finish, and ends within 4 s. What keeps it from starting goes to stderr, with exit
 * code 1.
 */
export async function runWeb(
  env: NodeJS.ProcessEnv,
  preparePages: (environment: Environment) => Promise<Pages | null>,
): Promise<void> {
  let running: Running | null = null
  let isStopping = false
  const requestStop = () => {
    if (isStopping) return
    isStopping = true
    if (running) void stop(running)
    else process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, requestStop)
  // The channel to whoever started us closes when they are gone.
  if (process.connected) process.on('disconnect', requestStop)
  running = await start(env, preparePages).catch(fail)
}

async function start(
  env: NodeJS.ProcessEnv,
  preparePages: (environment: Environment) => Promise<Pages | null>,
): Promise<Running> {
  const environment = readEnvironment(env)
  const [core, pages] = await Promise.all([processCore(environment.databaseUrl), preparePages(environment)])
  const server = await serve({ ...environment, core, pages }).catch((error) => {
    throw new BadEnvironment(whyNotServed(error, environment))
  })
  log.info({ url: server.url }, 'the web process serves')
  void inviteByLink(core.database, { site: core.site, url: server.url })
  return { core, pages, server }
}

async function stop({ core, pages, server }: Running): Promise<void> {
  setTimeout(() => process.exit(0), MOST_STOP_MS).unref()
  const ended = core.live.stop()
  await server.stop(GRACE_MS)
  await Promise.allSettled([ended, pages?.close()])
  await core.database.close().catch(() => {})
  process.exit(0)
}

function whyNotServed({ code, message }: NodeJS.ErrnoException, { host, port }: Environment): string {
  if (code === 'EADDRINUSE') return `${host}:${port} is taken by another program; choose another SWITCHBOARD_PORT`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${host} is no address of this machine; see SWITCHBOARD_HOST`
  if (code === 'EACCES') return `port ${port} may not be used by this user; choose a SWITCHBOARD_PORT above 1023`
  return `cannot listen on ${host}:${port}: ${message}`
}

function fail(error: unknown): never {
  const { message, stack } = error as Error
  process.stderr.write(`${error instanceof BadEnvironment ? message : (stack ?? message)}\n`)
  process.exit(1)
}
