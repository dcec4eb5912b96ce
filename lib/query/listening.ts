import { createParser } from 'eventsource-parser'
import { type Frame, frameOf } from './frame'

/** What one piece of the stream told. */
export interface Told {
  frames: Frame[]
  /** Where to go on from after it; null when it does not say. */
  cursor: string | null
  /** The server's time, if it was said. */
  now: string | null
}

/** How a stream ended: `signed-out` when nobody is known to the server (any more), else `lost`. */
export type Ending = 'signed-out' | 'lost'

/** One stream, from its request to its end. */
export interface Listening {
  ended: Promise<Ending>
  /** For how long nothing has come, in milliseconds. */
  silentMs(): number
  cut(): void
}

export interface Listener {
  /** The stream is open; what comes next has not been told before. */
  opened(): void
  hear(told: Told): void
  /** How long the server asks clients to wait before they come back. */
  retry(ms: number): void
}

const STREAM = '/api/v1/events'

/** Opens the stream, going on from the cursor, or from now on without one. */
export function listen(cursor: string | null, listener: Listener): Listening {
  const stop = new AbortController()
  let heardAt = Date.now()

  async function run(): Promise<Ending> {
    const response = await fetch(STREAM, {
      headers: { accept: 'text/event-stream', ...(cursor === null ? {} : { 'last-event-id': cursor }) },
      cache: 'no-store',
      redirect: 'error',
      signal: stop.signal,
    })
    if (response.status === 401) return 'signed-out'
    if (!response.ok || !response.body) throw new Error(`The stream was answered with ${response.status}`)
    listener.opened()
    await read(response.body, listener, () => {
      heardAt = Date.now()
    })
    return 'lost'
  }

  return {
    ended: run().catch(() => 'lost' as const),
    silentMs: () => Date.now() - heardAt,
    cut: () => stop.abort(),
  }
}

async function read(body: ReadableStream<Uint8Array>, { hear, retry }: Listener, came: () => void): Promise<void> {
  let told: Told = { frames: [], cursor: null, now: null }
  const parser = createParser({
    onRetry: retry,
    onEvent: ({ event, id, data }) => {
      told.cursor = id ?? told.cursor
      const { frame, now } = meaning(event, data)
      if (frame) told.frames.push(frame)
      if (now) told.now = now
    },
  })
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    came()
    parser.feed(piece.value)
    if (told.frames.length > 0 || told.cursor !== null || told.now !== null) hear(told)
    told = { frames: [], cursor: null, now: null }
  }
}

function meaning(event: string | undefined, data: string): { frame: Frame | null; now: string | null } {
  try {
    if (event === 'hello' || event === 'beat') return { frame: null, now: JSON.parse(data).now }
    return { frame: frameOf(event, data), now: null }
  } catch {
    // Whatever it told is missing now.
    return { frame: { name: 'resync', data: null }, now: null }
  }
}
