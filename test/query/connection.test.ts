import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Connection, openConnection } from '#lib/query/connection'
import type { Told } from '#lib/query/listening'
import type { StreamStatus } from '#lib/query/stream-status'

/** One answered request for the stream, to be written to from the test. */
class Answered {
  readonly lastEventId: string | null
  private controller!: ReadableStreamDefaultController<Uint8Array>
  readonly response: Response

  constructor(headers: Headers, status = 200) {
    this.lastEventId = headers.get('last-event-id')
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.controller = controller
      },
    })
    this.response = new Response(status === 200 ? body : null, { status })
  }

  async write(text: string): Promise<void> {
    this.controller.enqueue(new TextEncoder().encode(text))
    await vi.advanceTimersByTimeAsync(0)
  }

  async end(): Promise<void> {
    this.controller.close()
    await vi.advanceTimersByTimeAsync(0)
  }

  fail(reason: unknown): void {
    this.controller.error(reason)
  }
}

let statuses: number[] = []
let answered: Answered[] = []
let told: Told[] = []
let stands: StreamStatus[] = []
let connection: Connection | null = null

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
    const one = new Answered(new Headers(init.headers), statuses.shift() ?? 200)
    answered.push(one)
    init.signal?.addEventListener('abort', () => one.fail(init.signal?.reason))
    return one.response
  })
})

afterEach(() => {
  connection?.close()
  statuses = []
  answered = []
  told = []
  stands = []
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

async function opened(cursor: string | null, random = 0.5): Promise<Answered> {
  connection = openConnection({
    cursor,
    hear: (one) => told.push(one),
    stand: (one) => stands.push(one),
    random: () => random,
  })
  await vi.advanceTimersByTimeAsync(0)
  return last()
}

const last = (): Answered => answered.at(-1) as Answered
const standsLast = () => stands.at(-1)?.kind
const fact = (id: number) =>
  `id: c${id}\nevent: transition\ndata: {"event_id":${id},"at":"2020-01-01T00:00:00.000Z"}\n\n`

test('a stream that begins now tells first that nothing before it is known', async () => {
  const stream = await opened(null)
  expect(stream.lastEventId).toBeNull()
  expect(told).toEqual([{ frames: [{ name: 'resync', data: null }], cursor: null, now: null }])
  expect(standsLast()).toBe('live')
})

test('frames come with the cursor to go on from, however the stream is cut into pieces', async () => {
  const stream = await opened('c0')
  for (const character of `retry: 3000\n\nevent: hello\ndata: {"now":"2026-11-30T12:00:00.000Z"}\n\n${fact(1)}`) {
    await stream.write(character)
  }
  expect(told.map(({ now }) => now).filter(Boolean)).toEqual(['2026-11-30T12:00:00.000Z'])
  expect(told.flatMap(({ frames }) => frames)).toMatchObject([{ name: 'transition', data: { event_id: 1 } }])
  expect(told.at(-1)?.cursor).toBe('c1')
})

test('a lost stream goes on where it ended, after a random part of 8 s', async () => {
  const stream = await opened(null)
  await stream.write(fact(7))
  await stream.end()
  expect(stands.at(-1)).toMatchObject({ kind: 'lost', retryAt: Date.now() + 4000 })
  await vi.advanceTimersByTimeAsync(3999)
  expect(answered).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(last().lastEventId).toBe('c7')
})

test('many pages that lose their stream together do not come back together', async () => {
  const waits: number[] = []
  for (const part of [0, 0.25, 0.5, 0.75, 0.99]) {
    const stream = await opened('c0', part)
    await stream.end()
    const status = stands.at(-1)
    waits.push(status?.kind === 'lost' ? (status.retryAt ?? 0) - Date.now() : 0)
    connection?.close()
  }
  expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(5000)
})

test('it is live again after one 502, and says since when it was lost', async () => {
  statuses = [502]
  await opened(null)
  const since = Date.now()
  expect(stands.at(-1)).toMatchObject({ kind: 'lost', since })
  await vi.advanceTimersByTimeAsync(8000)
  expect(standsLast()).toBe('live')
})

test('waits grow with each try, up to 30 s', async () => {
  statuses = Array(12).fill(502)
  await opened(null, 1)
  const waits: number[] = []
  for (let tries = 0; tries < 8; tries++) {
    const status = stands.at(-1)
    const waitMs = status?.kind === 'lost' ? (status.retryAt ?? 0) - Date.now() : 0
    waits.push(waitMs)
    await vi.advanceTimersByTimeAsync(waitMs)
  }
  expect(waits.slice(0, 3)).toEqual([8000, 12_000, 18_000])
  expect(Math.max(...waits)).toBe(30_000)
})

test('a 401 says signed out and is not tried again until the page is woken', async () => {
  statuses = [401]
  await opened('c3')
  expect(standsLast()).toBe('signed-out')
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(answered).toHaveLength(1)
  connection?.wake()
  await vi.advanceTimersByTimeAsync(400)
  expect(standsLast()).toBe('live')
  expect(last().lastEventId).toBe('c3')
})

test('a stream without a word for 35 s is opened again at once', async () => {
  const stream = await opened('c1')
  await vi.advanceTimersByTimeAsync(30_000)
  await stream.write(': beat\n\n')
  await vi.advanceTimersByTimeAsync(34_000)
  expect(answered).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(6_000)
  expect(answered).toHaveLength(2)
})

test('a page that wakes opens what fell silent while it slept, within 5 s', async () => {
  await opened('c1')
  vi.setSystemTime(Date.now() + 300_000)
  connection?.wake()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(answered).toHaveLength(2)
})

test('a stream that replays is catching up until it tells something new, or pauses', async () => {
  const stream = await opened('c1')
  expect(standsLast()).toBe('catching-up')
  await stream.write(fact(2))
  await vi.advanceTimersByTimeAsync(200)
  await stream.write(fact(3))
  await vi.advanceTimersByTimeAsync(200)
  expect(standsLast()).toBe('catching-up')
  await vi.advanceTimersByTimeAsync(200)
  expect(standsLast()).toBe('live')
})

test('a frame that cannot be read counts as missed: everything is to be fetched anew', async () => {
  const stream = await opened('c1')
  await stream.write('id: c2\nevent: transition\ndata: {"event_id":\n\n')
  expect(told.flatMap(({ frames }) => frames)).toEqual([{ name: 'resync', data: null }])
})
