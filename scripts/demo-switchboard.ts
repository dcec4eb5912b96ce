import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { findDatabaseUrl, ROOT, readInstance } from './instance.mjs'
import { Problem } from './problem.mjs'

/** The Switchboard the demo works with. */
export interface Place {
  url: string
  /** Null where only the API can be reached. */
  databaseUrl: string | null
  /** Ends it if the demo has started it. */
  stop(): Promise<void>
}

const STOP_MS = 15_000
const LOOK_MS = 200

/** The Switchboard that is named or running, else one started for the demo; `say` hears how that goes. */
export async function findOrStart(say: (line: string) => void, signal: AbortSignal): Promise<Place> {
  const named = process.env.SWITCHBOARD_URL?.replace(/\/+$/, '')
  const running = readInstance()
  if (named) {
    const isOurs = running?.url === named
    return {
      url: named,
      databaseUrl: process.env.DATABASE_URL || (isOurs ? findDatabaseUrl() : null),
      stop: async () => {},
    }
  }
  if (running) return { url: running.url, databaseUrl: findDatabaseUrl(), stop: async () => {} }
  say('No Switchboard is running here; starting one.')
  return start(say, signal)
}

async function start(say: (line: string) => void, signal: AbortSignal): Promise<Place> {
  // In a group of its own: at Ctrl-C the demo ends first and stops it then.
  const child = spawn(process.execPath, ['scripts/start.mjs'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', say)
  const stop = () => end(child)
  try {
    while (!readInstance()) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Problem('Switchboard did not start; see above.')
      await sleep(LOOK_MS, undefined, { signal })
    }
  } catch (error) {
    await stop()
    throw error
  }
  const instance = readInstance()
  if (!instance) throw new Problem('Switchboard ended right after its start.')
  return { url: instance.url, databaseUrl: findDatabaseUrl(), stop }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(timer)
}
