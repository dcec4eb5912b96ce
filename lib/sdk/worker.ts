import { type Attempt, begin, type Handler, type Workplace } from './attempt'
import { type Claiming, claimSome } from './claims'
import { type ConnectOptions, connect } from './client'
import { createHeartbeats } from './heartbeats'
import { consoleLog, type Log } from './log'
import { onStopSignal } from './stop-signals'

/** How a worker works. */
export interface WorkerOptions extends ConnectOptions {
  handler: Handler
  /** Only todos of these; otherwise of all its endpoint may work. */
  queues?: string[]
  /** How many todos it works on at once; 1. */
  concurrency?: number
  /** What it calls itself; with the endpoint's name it says who holds a lease. */
  name?: string
  /** How long a lease lasts without a heartbeat; else the endpoint's, the queue's, the setting's. */
  leaseSeconds?: number
  /** How long handlers may go on once the worker is to stop; 10. */
  graceSeconds?: number
  /** Stops at SIGTERM and SIGINT by itself unless false. */
  signals?: boolean
  /** Stops the worker, like `stop`. */
  signal?: AbortSignal
  /** Hears what goes wrong in passing; the console's warnings unless given. */
  log?: Log
}

/** A worker at work. */
export interface Worker {
  /** Resolves once it has stopped and settled everything; rejects with what ended it, such as a token that is revoked. */
  readonly done: Promise<void>
  /** Claims nothing more, gives handlers their grace, releases or parks the rest; resolves once that is done. */
  stop(): Promise<void>
}

const ABORT_MS = 2000

/**
 * Works on todos until it is stopped: claims as many as it has room for, waits when there is nothing, keeps every lease by
 * heartbeats whatever its handler does, and reports how each ended. A handler whose lease is lost sees its signal aborted
 * and is not heard any more.
 */
export function worker(options: WorkerOptions): Worker {
  const { concurrency = 1, graceSeconds = 10, log = consoleLog } = options
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new TypeError('concurrency must be a whole number from 1')
  const stopping = new AbortController()
  const hurrying = new AbortController()
  const gone = new AbortController()
  const client = connect(options)
  const heartbeats = createHeartbeats(client)
  const workplace = { client, handler: options.handler, heartbeats, log, stopping: stopping.signal, gone: gone.signal }
  const { queues, leaseSeconds, name } = options
  const claiming = { client, log, queues, leaseSeconds, name, stopping: stopping.signal }

  const stop = () => stopping.abort()
  const forget = options.signals === false ? () => {} : onStopSignal(stop, () => hurrying.abort())
  options.signal?.addEventListener('abort', stop, { once: true })
  if (options.signal?.aborted) stop()

  async function work(): Promise<void> {
    const attempts = new Set<Attempt>()
    try {
      await claimUntilStopped({ workplace, claiming, concurrency }, attempts)
    } finally {
      stop()
      await windDown(attempts, graceSeconds * 1000, hurrying.signal)
      gone.abort()
      forget()
      options.signal?.removeEventListener('abort', stop)
    }
  }

  const done = work()
  return {
    done,
    stop: () => {
      stop()
      return done
    },
  }
}

interface Shop {
  workplace: Workplace
  claiming: Claiming
  concurrency: number
}

async function claimUntilStopped({ workplace, claiming, concurrency }: Shop, attempts: Set<Attempt>): Promise<void> {
  const { stopping } = claiming
  let onRoom = () => {}
  stopping.addEventListener('abort', () => onRoom(), { once: true })
  while (!stopping.aborted) {
    const room = concurrency - attempts.size
    if (room <= 0) {
      await new Promise<void>((resolve) => {
        onRoom = resolve
      })
      continue
    }
    const { todos, since } = await claimSome(claiming, room)
    for (const todo of todos) {
      const attempt = begin(workplace, todo, since)
      attempts.add(attempt)
      attempt.finished.then(() => {
        attempts.delete(attempt)
        onRoom()
      })
    }
  }
}

/** Lets what is under way come to its end: by itself, then by its signal, then without it. */
async function windDown(attempts: ReadonlySet<Attempt>, graceMs: number, hurrying: AbortSignal): Promise<void> {
  const all = Promise.all([...attempts].map(({ finished }) => finished))
  await within(graceMs, all, hurrying)
  for (const attempt of attempts) attempt.stop()
  await within(ABORT_MS, all)
  await within(ABORT_MS, Promise.all([...attempts].map((attempt) => attempt.abandon())))
}

function within(ms: number, work: Promise<unknown>, hurrying?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    work.then(end)
    hurrying?.addEventListener('abort', end, { once: true })
    if (hurrying?.aborted) end()
  })
}
