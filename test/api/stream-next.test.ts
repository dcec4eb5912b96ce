import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeCore, processCore } from '#lib/api/core'
import { handlers } from '#lib/api/next-route'
import { createEndpoint } from '#lib/auth/endpoints'
import { exposition } from '#lib/ops/metrics'
import { enqueue } from '#lib/queue/enqueue'
import { database } from '../support/database'
import { OPERATOR } from '../support/given'

// The route handler that Next calls, called as Next does it: a web Request in, a web Response with a body that streams out.
const { db, url } = database()

let headers: Record<string, string>
beforeAll(async () => {
  process.env.DATABASE_URL = url
  const { token } = await createEndpoint(db, { name: 'watcher', scopes: ['read'] })
  headers = { authorization: `Bearer ${token}` }
})
afterAll(async () => {
  delete process.env.DATABASE_URL
  await closeCore(await processCore(url))
})

function ask(path = '/api/v1/events') {
  const gone = new AbortController()
  const request = new Request(`http://localhost${path}`, { headers, signal: gone.signal })
  return { gone, answer: handlers.GET(request) }
}

/** What a body has told up to now; it goes on being read. */
function reading(response: Response): { text: string; ended: Promise<string> } {
  const told = { text: '', ended: Promise.resolve('') }
  const read = async () => {
    const decoder = new TextDecoder()
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) told.text += decoder.decode(part.value)
    return 'ended'
  }
  told.ended = read().catch(() => 'broken off')
  return told
}

const streams = async () => Number(/^switchboard_sse_streams (\d+)$/m.exec(await exposition())?.[1] ?? 0)
const make = (count: number, title: string) =>
  enqueue(
    db,
    Array.from({ length: count }, () => ({ queue: 'main', title })),
    OPERATOR,
  )

test('a stream tells what happens, gives its place back when the client goes, and ends when the process stops', async () => {
  const [first, second] = [ask(), ask()]
  const [one, two] = [reading(await first.answer), reading(await second.answer)]
  expect((await first.answer).headers.get('content-encoding')).toBe('none')
  await make(1, 'Told')
  await expect.poll(() => [one, two].map(({ text }) => text.includes('Told'))).toEqual([true, true])
  expect(await streams()).toBe(2)
  first.gone.abort()
  expect(await one.ended).toBe('broken off')
  await expect.poll(streams).toBe(1)

  const unread = await ask().answer
  for (let round = 0; round < 4; round++) await make(150, 'Much')
  await expect.poll(() => two.text.split('event: transition').length, { timeout: 10_000 }).toBe(602)
  await (await processCore(url)).live.stop()
  expect(await two.ended).toBe('ended')
  expect(two.text).toMatch(/retry: \d+\n\n$/)
  const slow = reading(unread)
  expect(await slow.ended).toBe('ended')
  expect(slow.text.split('event: transition').length).toBeLessThan(602)
  expect(await streams()).toBe(0)
})
