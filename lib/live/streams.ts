import type { Database } from '#lib/db/connect'
import { log } from '#lib/ops/log'
import { observe } from '#lib/ops/metrics'
import { type Batch, batchOf, frameText, leaseBatch, type View } from './batch'
import { type Channel, createChannel } from './channel'
import { cursorOf, type Mark, markAt, markIn } from './cursor'
import { createDatabaseClock } from './database-clock'
import type { Look, Watcher } from './follow'
import { createGate } from './gate'
import { createLeaseWatch } from './leases'
import { createPlaces, type NoPlace } from './places'
import { canReplay, replay } from './replay'
import type { Sink } from './sink'

/** How a process keeps its streams; times in milliseconds. */
export interface StreamTiming {
  /** Between two beats, at each of which the client must still be allowed. */
  beatMs: number
  /** Between two looks at the leases, while somebody watches. */
  leaseMs: number
  /** How many streams there may be in all, and of one caller. */
  most: number
  mostOfCaller: number
}

const TIMING: StreamTiming = { beatMs: 15_000, leaseMs: 1000, most: 4000, mostOfCaller: 100 }

// So many replays read at once; the others wait, so that a restart's crowd leaves connections for calls.
const READERS = 3

// Clients whose streams end together come back spread over so long, whatever they do themselves.
const SPREAD_MS = 7000

/** What somebody wants to be told. */
export interface Wish {
  view: View
  /** What the client last held, as it sent it; null: from now on. */
  cursor: string | null
  /** How long it shall wait before it connects again. */
  retryMs: number
  /** Whether the client still may; asked at every beat. */
  stillMay(): Promise<boolean>
}

/** A place among the streams, kept until the stream has ended. */
export interface Place {
  /** Opens the stream on a connection; to be called once. On one that is gone already it just gives the place back. */
  open(sink: Sink, wish: Wish): void
}

/** The event streams of a process. */
export interface Streams {
  /** Takes a place for a caller, or says why there is none. */
  reserve(caller: string): Place | NoPlace
  /** Ends all of them, telling each client when to come back; no more begin. */
  stop(): void
}

/** Makes a process's streams, and what watches the log for them. */
export function createStreams(database: Database, timing: Partial<StreamTiming> = {}): Streams & { watcher: Watcher } {
  const { beatMs, leaseMs, ...limits } = { ...TIMING, ...timing }
  const clock = createDatabaseClock(database)
  const inTurn = createGate(READERS)
  const places = createPlaces(limits)
  const retries = new Map<Channel, number>()
  let mark: Mark | null = null
  let isStopped = false
  let restLeases: (() => void) | null = null

  const nowText = () => new Date(clock.now()).toISOString()
  const hint = (retryMs: number) => `retry: ${Math.round(retryMs + Math.random() * SPREAD_MS)}\n\n`

  function tellAll(batch: Batch): void {
    for (const channel of retries.keys()) channel.take(batch)
  }

  function watchLeases(): () => void {
    return every(leaseMs, createLeaseWatch(database), ({ changed, now, askedAt }) => {
      if (now) clock.heard(now, askedAt)
      if (changed.length > 0) tellAll(leaseBatch(changed))
    })
  }

  function beginWatching(channel: Channel, retryMs: number): void {
    retries.set(channel, retryMs)
    restLeases ??= watchLeases()
  }

  function endWatching(channel: Channel): void {
    retries.delete(channel)
    if (retries.size > 0) return
    restLeases?.()
    restLeases = null
  }

  function beat(channel: Channel): void {
    const standing = mark && channel.standing(mark)
    channel.say(`:\n\n${frameText('beat', { now: nowText() }, standing ? cursorOf(standing) : undefined)}`)
  }

  function keepAlive(channel: Channel, stillMay: Wish['stillMay']): () => void {
    const timer = setInterval(async () => {
      const may = await stillMay()
      if (may) beat(channel)
      else channel.end()
    }, beatMs)
    return () => clearInterval(timer)
  }

  /** Tells what was missed since the cursor, or that it must be fetched anew. */
  async function catchUp(channel: Channel, cursor: string): Promise<void> {
    const from = markIn(cursor)
    const isTold =
      from &&
      (await inTurn(() => canReplay(database, from))) &&
      (await replay(database, { channel, mark: from, inTurn }))
    if (isTold || channel.isOver) return
    channel.resync()
    // Whatever is held happened before that.
    channel.hold()
    channel.release(null)
  }

  function begin(channel: Channel, { cursor, retryMs, stillMay }: Wish): () => void {
    beginWatching(channel, retryMs)
    channel.say(`retry: ${retryMs}\n\n${frameText('hello', { now: nowText() })}`)
    if (cursor !== null) {
      channel.hold()
      catchUp(channel, cursor).catch((error) => {
        log.warn({ err: error }, 'a replay failed; its client has to come back')
        channel.end(hint(retryMs))
      })
    }
    const rest = keepAlive(channel, stillMay)
    return () => {
      rest()
      endWatching(channel)
    }
  }

  function open(sink: Sink, wish: Wish, giveBack: () => void): void {
    const channel = createChannel(sink, wish.view)
    if (isStopped) channel.end(hint(wish.retryMs))
    const end = channel.isOver ? () => {} : begin(channel, wish)
    channel.onOver(() => {
      end()
      giveBack()
    })
  }

  return {
    reserve: (caller) => {
      if (isStopped) return 'stopping'
      const giveBack = places.take(caller)
      if (typeof giveBack === 'string') return giveBack
      return { open: (sink, wish) => open(sink, wish, giveBack) }
    },
    stop: () => {
      isStopped = true
      for (const [channel, retryMs] of [...retries]) channel.end(hint(retryMs))
    },
    watcher: {
      isUsed: () => retries.size > 0,
      began: (position) => {
        mark = markAt(position, null)
        // What happened before the log could be read is not known.
        for (const channel of retries.keys()) channel.resync()
        clock.set().catch((error) => log.debug({ err: error }, "the database's clock could not be read"))
      },
      missed: () => {
        for (const channel of retries.keys()) channel.resync()
      },
      looked: ({ events, cards, position }: Look) => {
        const before = mark ?? markAt(position, null)
        mark = markAt(position, events.findLast(({ id }) => id === position.last)?.at ?? before.at)
        if (retries.size === 0 || events.length === 0) return
        tellAll(batchOf({ events, cards }, before))
        for (const { at } of events) {
          observe('switchboard_event_delivery_seconds', {}, (clock.now() - Date.parse(at)) / 1000)
        }
      },
    },
  }
}

/** Looks again and again, never twice at once; what fails is left out. */
function every<Found>(
  ms: number,
  look: () => Promise<Found>,
  use: (found: Found & { askedAt: number }) => void,
): () => void {
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    const askedAt = Date.now()
    look()
      .then((found) => use({ ...found, askedAt }))
      .catch((error) => log.debug({ err: error }, 'the leases could not be read'))
      .finally(() => {
        isLooking = false
      })
  }, ms)
  return () => clearInterval(timer)
}
