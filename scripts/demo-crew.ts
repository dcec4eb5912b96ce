import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ROOT } from './instance.mjs'

const PROGRAM = fileURLToPath(new URL('demo-worker.ts', import.meta.url))

/** How every worker works. */
export interface Craft {
  url: string
  queue: string
  concurrency: number
  leaseSeconds: number
  paceMs: number
}

/** One worker process. */
export interface Crewman {
  name: string
  pid: number
  state: 'starting' | 'working' | 'killed' | 'ended'
  readonly isAlive: boolean
  /** Stops it in its tracks, without its knowing. */
  freeze(): void
  thaw(): void
  /** Ends it as a power cut would. */
  kill(): Promise<void>
  /** Asks it to end, and waits. */
  stop(): Promise<void>
}

/** Starts a worker as a process of its own; `hear` gets what it says. */
export function hire(
  { name, token }: { name: string; token: string },
  craft: Craft,
  hear: (line: string) => void,
): Crewman {
  const { url, ...how } = craft
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, JSON.stringify(how)], {
    cwd: ROOT,
    env: { ...process.env, SWITCHBOARD_URL: url, SWITCHBOARD_TOKEN: token },
    // In a group of its own: Ctrl-C is for the demo, which lets its workers finish.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => hear(`${name}: ${line}`))
  }
  let isStopping = false
  const crewman: Crewman = {
    name,
    pid: child.pid ?? 0,
    state: 'starting',
    get isAlive() {
      return crewman.state === 'starting' || crewman.state === 'working'
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    kill: async () => {
      crewman.state = 'killed'
      await ended(child, 'SIGKILL')
    },
    stop: () => {
      isStopping = true
      return ended(child, 'SIGTERM')
    },
  }
  child.once('message', () => {
    if (crewman.isAlive) crewman.state = 'working'
  })
  child.once('exit', (code, signal) => {
    if (crewman.state === 'killed') return
    crewman.state = 'ended'
    if (code !== 0 && !isStopping) hear(`${name} ended ${signal ? `by ${signal}` : `with code ${code}`}`)
  })
  return crewman
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}
