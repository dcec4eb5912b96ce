import { randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Bell, channelOf } from './bell'
import type { Database } from './connect'
import { NoAnswer, within } from './within'

/** Who is told what a listener hears. */
export interface Ear {
  /** A bell rang, in this process or another. */
  rang(bell: Bell): void
  /** From now on bells are heard. One that rang before may have been missed. */
  up(): void
  /** From now on no bell is heard, and why; told again when the reason changes. */
  down(reason: Error): void
}

/** How long a listener waits for what, in milliseconds. */
export interface ListenTiming {
  /** Between two round trips; with `answerMs` it bounds how long a half-open connection goes unnoticed. */
  beatMs: number
  /** For an answer, before the connection counts as dead. */
  answerMs: number
  /** Before the first attempt to connect again; it doubles up to `mostRetryMs`. */
  retryMs: number
  mostRetryMs: number
}

const TIMING: ListenTiming = { beatMs: 10_000, answerMs: 5000, retryMs: 250, mostRetryMs: 10_000 }

const CHANNELS = new Map<string, Bell>((['log', 'ready'] as const).map((bell) => [channelOf(bell), bell]))

/** A connection that hears every process's bells, for as long as it is not stopped. */
export interface Listener {
  stop(): Promise<void>
}

/**
 * Listens to all bells on a connection of its own, never one of the pool, and connects again whenever that is lost, later
 * and later and at a random moment, so that many processes never come back as one. It counts as up only once a notification
 * sent through the pool has come in: a transaction pooler or a standby never gets that far, and then the process polls.
 */
export function listen(database: Database, ear: Ear, timing: Partial<ListenTiming> = {}): Listener {
  const stopping = new AbortController()
  const ended = keepListening({ database, ear, timing: { ...TIMING, ...timing }, signal: stopping.signal })
  return {
    stop: () => {
      stopping.abort()
      return ended
    },
  }
}

interface Listening {
  database: Database
  ear: Ear
  timing: ListenTiming
  signal: AbortSignal
}

async function keepListening({ database, ear, timing, signal }: Listening): Promise<void> {
  let failures = 0
  let told: string | null = null
  const up = () => {
    failures = 0
    told = null
    ear.up()
  }
  while (!signal.aborted) {
    const reason = await oneConnection({ database, ear: { ...ear, rang: ear.rang, up }, timing, signal })
    if (signal.aborted) return
    if (reason.message !== told) ear.down(reason)
    told = reason.message
    const delay = Math.min(timing.retryMs * 2 ** failures++, timing.mostRetryMs)
    await sleep(delay * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {})
  }
}

/** Listens until that fails or is over, and says why. */
async function oneConnection({ database, ear, timing, signal }: Listening): Promise<Error> {
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: database.url,
    application_name: 'switchboard-listener',
    keepAlive: true,
    stream: () => socket,
  })
  const over = new AbortController()
  const broken = untilBroken(client, signal, over.signal)
  const answered = <Answer>(answer: Promise<Answer>) => within(timing.answerMs, Promise.race([answer, broken]))
  try {
    await answered(client.connect())
    await subscribe({ client, database, ear, answered })
    ear.up()
    for (;;) {
      await Promise.race([sleep(timing.beatMs, undefined, { ref: false }), broken])
      await answered(client.query('SELECT 1'))
    }
  } catch (error) {
    return error as Error
  } finally {
    over.abort()
    // A clean goodbye when there is somebody to say it to; whoever doesn't answer gets none.
    if (signal.aborted) await within(500, client.end()).catch(() => {})
    socket.destroy()
  }
}

interface Subscription {
  client: pg.Client
  database: Database
  ear: Ear
  answered<Answer>(answer: Promise<Answer>): Promise<Answer>
}

async function subscribe({ client, database, ear, answered }: Subscription): Promise<void> {
  const echo = `switchboard_echo_${randomBytes(8).toString('hex')}`
  const echoed = new Promise<void>((resolve) => {
    client.on('notification', ({ channel }) => {
      const bell = CHANNELS.get(channel)
      if (bell) ear.rang(bell)
      else if (channel === echo) resolve()
    })
  })
  await answered(client.query([...CHANNELS.keys(), echo].map((channel) => `LISTEN ${channel}`).join('; ')))
  // Sent through the pool, since a pooler may well hand a connection's own notification back to it.
  await answered(database.query({ name: 'echo', text: 'SELECT pg_notify($1, $2)', values: [echo, ''] }))
  await answered(echoed).catch((error: Error) => {
    throw error instanceof NoAnswer ? new Error('Notifications get lost on their way, as behind a pooler') : error
  })
  await answered(client.query(`UNLISTEN ${echo}`))
}

/** Rejects when the connection is lost or the listener is stopped; `over` ends the watch. */
function untilBroken(client: pg.Client, signal: AbortSignal, over: AbortSignal): Promise<never> {
  const broken = new Promise<never>((_, reject) => {
    client.on('error', reject)
    client.on('end', () => reject(new Error('The server closed the connection')))
    signal.addEventListener('abort', () => reject(new Error('The listener was stopped')), { signal: over })
  })
  broken.catch(() => {})
  return broken
}
