import { pause } from '#lib/sdk/pause'
import { type Listening, listen, type Told } from './listening'
import { createStanding } from './standing'
import type { StreamStatus } from './stream-status'

export interface ConnectionOptions {
  /** Where to go on from; null to begin with what happens from now on. */
  cursor: string | null
  hear(told: Told): void
  stand(status: StreamStatus): void
  /** From 0 to 1: which part of the longest wait is waited. */
  random?: () => number
}

/** A stream that is opened again whenever it ends. */
export interface Connection {
  /** To be called when the page may have slept or come online: opens at once what is lost, or fell silent unnoticed. */
  wake(): void
  close(): void
}

const SILENT_MS = 35_000
const WATCH_MS = 5_000
// What has piled up while a page slept comes within moments; beats come every 15 s.
const LOOK_AFTER_MS = 1_000
const MISSED_BEAT_MS = 20_000
const FIRST_WAIT_MS = 8_000
const LONGEST_WAIT_MS = 30_000
const FOR_EVER_MS = 2_147_483_647

/**
 * Opens the stream and keeps it open. After a loss it waits a random part of 8 s, each time of half as much more, up to
 * 30 s, so that many pages don't come back at once. A stream silent for 35 s is lost. Signed out, it waits to be woken.
 */
export function openConnection({ cursor: first, hear, stand, random = Math.random }: ConnectionOptions): Connection {
  const over = new AbortController()
  const wait = createWait(random)
  let sleep = new AbortController()
  let listening: Listening | null = null
  let cursor = first
  let lostSince: number | null = null
  let isHurried = false

  function opened(isReplaying: boolean): void {
    wait.reset()
    lostSince = null
    // Nothing tells what happened before a stream that begins now.
    if (!isReplaying) hear({ frames: [{ name: 'resync', data: null }], cursor: null, now: null })
  }

  function begin(): Listening {
    const isReplaying = cursor !== null
    const standing = createStanding(isReplaying, stand)
    const one = listen(cursor, {
      retry: wait.hint,
      opened: () => {
        opened(isReplaying)
        standing.begin()
      },
      hear: (told) => {
        cursor = told.cursor ?? cursor
        hear(told)
        standing.heard(told.frames)
      },
    })
    void one.ended.then(standing.end)
    return one
  }

  async function rest(isSignedOut: boolean): Promise<void> {
    if (isHurried) {
      isHurried = false
      return
    }
    const waitMs = isSignedOut ? FOR_EVER_MS : wait.next()
    lostSince = isSignedOut ? null : (lostSince ?? Date.now())
    stand(
      lostSince === null ? { kind: 'signed-out' } : { kind: 'lost', since: lostSince, retryAt: Date.now() + waitMs },
    )
    sleep = new AbortController()
    await pause(waitMs, sleep.signal).catch(() => {})
    if (lostSince !== null && !over.signal.aborted) stand({ kind: 'lost', since: lostSince, retryAt: null })
  }

  async function run(): Promise<void> {
    while (!over.signal.aborted) {
      listening = begin()
      const ending = await listening.ended
      listening = null
      if (!over.signal.aborted) await rest(ending === 'signed-out')
    }
  }

  function cutWhenSilent(ms: number): void {
    if (!listening || listening.silentMs() <= ms) return
    isHurried = true
    listening.cut()
  }

  const watch = setInterval(() => cutWhenSilent(SILENT_MS), WATCH_MS)
  void run()
  return {
    wake: () => {
      wait.reset()
      sleep.abort()
      setTimeout(() => cutWhenSilent(MISSED_BEAT_MS), LOOK_AFTER_MS)
    },
    close: () => {
      over.abort()
      clearInterval(watch)
      listening?.cut()
      sleep.abort()
    },
  }
}

/** How long to wait before the next try, in milliseconds. */
function createWait(random: () => number): { next(): number; hint(retryMs: number): void; reset(): void } {
  let firstMs = FIRST_WAIT_MS
  let tries = 0
  return {
    next: () => random() * Math.min(firstMs * 1.5 ** tries++, LONGEST_WAIT_MS),
    hint: (retryMs) => {
      firstMs = Math.max(FIRST_WAIT_MS, 2 * retryMs)
    },
    reset: () => {
      tries = 0
    },
  }
}
