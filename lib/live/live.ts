import type { Database } from '#lib/db/connect'
import { type ListenTiming, listen } from '#lib/db/listen'
import { log } from '#lib/ops/log'
import { gauge } from '#lib/ops/metrics'
import { follow } from './follow'
import { createHooks, type On } from './hooks'
import { createStreams, type Streams, type StreamTiming } from './streams'
import { createWaiters, type Waiters } from './waiters'

/** How a process learns of what happens to todos. One for each process: it has the one listening connection. */
export interface Live extends Pick<Waiters, 'whenReady' | 'whenTodo'> {
  /** Adds an act to a hook, called once for every fact committed from now on, in whichever process; returns what takes it away. */
  on: On
  /** The streams by which clients follow the log. */
  readonly streams: Pick<Streams, 'reserve'>
  /** Whether notifications arrive; if not, the log is polled. */
  readonly isListening: boolean
  /** Ends every wait empty, every stream, and the listening. */
  stop(): Promise<void>
}

/** How often the log is looked at without a bell, in milliseconds, and how streams are kept; the rest is the listener's. */
export interface LiveTiming extends Partial<ListenTiming> {
  /** How streams are kept. */
  stream?: Partial<StreamTiming>
  /** While bells are heard, should one be lost. */
  pollMs?: number
  /** While none are. */
  pollDeafMs?: number
}

/**
 * Follows the event log from its present end, woken by bells and polling besides. When the database is away it starts all
 * the same and catches up later.
 */
export async function startLive(database: Database, timing: LiveTiming = {}): Promise<Live> {
  const { pollMs = 1000, pollDeafMs = 250, stream, ...listenTiming } = timing
  const hooks = createHooks()
  const waiters = createWaiters(hooks.on)
  const { watcher, ...streams } = createStreams(database, stream)
  let isListening = false
  gauge('switchboard_listener_up', {}, 0)
  const follower = await follow(database, { hooks, watcher, pollMs: () => (isListening ? pollMs : pollDeafMs) })

  function turn(up: boolean): void {
    isListening = up
    gauge('switchboard_listener_up', {}, up ? 1 : 0)
    // Whatever rang while nobody listened is found by looking.
    follower.wake()
    waiters.ring()
  }

  const listener = listen(
    database,
    {
      rang: (bell) => (bell === 'log' ? follower.wake() : waiters.ring()),
      up: () => {
        log.info('notifications arrive')
        turn(true)
      },
      down: (reason) => {
        log.warn({ err: reason }, `notifications do not arrive; looking every ${pollDeafMs} ms instead`)
        turn(false)
      },
    },
    listenTiming,
  )

  return {
    on: hooks.on,
    whenReady: waiters.whenReady,
    whenTodo: waiters.whenTodo,
    streams,
    get isListening() {
      return isListening
    },
    stop: async () => {
      waiters.stop()
      streams.stop()
      await Promise.all([listener.stop(), follower.stop()])
      gauge('switchboard_listener_up', {}, 0)
    },
  }
}
