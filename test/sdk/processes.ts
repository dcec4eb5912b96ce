import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach } from 'vitest'

const PROGRAM = fileURLToPath(new URL('worker-process.ts', import.meta.url))

/** A worker in a process of its own. */
export interface WorkerProcess {
  /** The lines it has said so far. */
  said: string[]
  /** Resolves once it has said this so many times. */
  hears(line: string, times?: number): Promise<void>
  /** Ends it by this signal; gives the exit code, or null where the signal itself ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Call once at the top of a test file; gives what starts a worker on a queue. What still runs after a test is killed. */
export function processes(): (queue: string, at: { url: string; token: string }) => WorkerProcess {
  const running = new Set<ChildProcess>()
  afterEach(async () => {
    await Promise.all([...running].map((child) => end(child, 'SIGKILL')))
    running.clear()
  })
  return (queue, { url, token }) => {
    const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, queue], {
      env: { ...process.env, SWITCHBOARD_URL: url, SWITCHBOARD_TOKEN: token },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    running.add(child)
    return listening(child)
  }
}

function listening(child: ChildProcess): WorkerProcess {
  const said: string[] = []
  const news = new EventTarget()
  const tell = () => news.dispatchEvent(new Event('news'))
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.push(...text.split('\n').filter(Boolean))
    tell()
  })
  child.once('exit', tell)
  return {
    said,
    hears: async (line, times = 1) => {
      while (said.filter((one) => one === line).length < times) {
        if (hasEnded(child)) throw new Error(`The worker ended before it said "${line}"`)
        await once(news, 'news')
      }
    },
    end: (signal) => end(child, signal),
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (hasEnded(child)) return child.exitCode
  const exit = once(child, 'exit')
  child.kill(signal)
  return (await exit)[0]
}
