import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { log } from '#lib/ops/log'
import { type Core, processCore } from './core'
import { BadEnvironment, type Environment, readEnvironment } from './environment'
import { type Pages, preparePages } from './pages'
import { serve, type WebServer } from './web-server'

// Whoever started us ends us for good 4 s after asking; calls get most of that.
const GRACE_MS = 2500
const MOST_STOP_MS = 3700

interface Running {
  core: Core
  pages: Pages
  server: WebServer
}

async function start(environment: Environment): Promise<Running> {
  const [core, pages] = await Promise.all([
    processCore(environment.databaseUrl),
    preparePages({ ...environment, dir: rootFolder() }),
  ])
  const server = await serve({ ...environment, core, pages })
  log.info({ url: server.url }, 'the web process serves')
  return { core, pages, server }
}

/** The folder of package.json, whether this file runs from its own place or out of a bundle. */
function rootFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

/** Takes no more calls, ends the waiting ones empty, lets the others finish, and ends the process. */
async function stop({ core, pages, server }: Running): Promise<void> {
  const timer = setTimeout(() => process.exit(0), MOST_STOP_MS)
  const ended = core.live.stop()
  await server.stop(GRACE_MS)
  await ended
  await Promise.allSettled([pages.close(), core.database.close()])
  clearTimeout(timer)
  process.exit(0)
}

/** What a failed start says: to a person if they can put it right, else with all there is. */
function explain(error: unknown, { host, port }: Pick<Environment, 'host' | 'port'>): string {
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `${host}:${port} is taken by another program; choose another SWITCHBOARD_PORT`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${host} is no address of this machine; see SWITCHBOARD_HOST`
  if (code === 'EACCES') return `port ${port} may not be used by this user; choose a SWITCHBOARD_PORT above 1023`
  return stack ?? message
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

async function main(): Promise<void> {
  const environment = readEnvironment(process.env)
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
  running = await start(environment).catch((error) => fail(explain(error, environment)))
}

main().catch((error) => fail(error instanceof BadEnvironment ? error.message : String(error?.stack ?? error)))
