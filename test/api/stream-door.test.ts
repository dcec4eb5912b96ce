import { afterEach, expect, test } from 'vitest'
import { enqueue } from '#lib/queue/enqueue'
import { OPERATOR } from '../support/given'
import { door } from './door'
import { closeStreams, openStream, type StreamClient } from './stream-client'

// What the stream promises whichever server takes the request: ours, or Next's own (see `door`).
const api = door()
afterEach(closeStreams)

const titles = (client: StreamClient) => client.named('transition').map(({ data }) => data.todo?.title)
const make = (title: string) => enqueue(api.db, [{ queue: 'main', title }], OPERATOR)
const listeners = () => api.sql`SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'switchboard-listener'`

async function watcher(): Promise<Record<string, string>> {
  const { token } = await api.agent(['read'])
  return { authorization: `Bearer ${token}` }
}

test('frames reach a client that takes gzip within a second, as they are', async () => {
  const client = await openStream(api.url, { ...(await watcher()), 'accept-encoding': 'gzip, deflate, br' })
  expect(client.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  expect(client.headers['content-encoding'] ?? 'none').toBe('none')
  await expect.poll(() => client.named('hello'), { timeout: 1000 }).toHaveLength(1)
  expect(client.retries).toEqual([3000])
  await make('At once')
  await expect.poll(() => titles(client), { timeout: 1000, interval: 10 }).toEqual(['At once'])
})

test('what was missed is told once and in order, and a cursor that is none answered with a resync', async () => {
  const headers = await watcher()
  const client = await openStream(api.url, headers)
  await make('Seen')
  await expect.poll(() => titles(client)).toEqual(['Seen'])
  client.close()
  for (const title of ['1', '2', '3']) await make(title)
  const again = await openStream(api.url, { ...headers, 'last-event-id': client.cursor as string })
  await expect.poll(() => titles(again)).toEqual(['1', '2', '3'])
  const lost = await openStream(api.url, headers, '/api/v1/events?last_event_id=nonsense')
  await expect.poll(() => lost.named('resync')).toHaveLength(1)
})

test('many streams and calls share one listening connection of the process', async () => {
  const headers = await watcher()
  const clients = await Promise.all(Array.from({ length: 4 }, () => openStream(api.url, headers)))
  await make('To all')
  await expect.poll(() => clients.map((one) => titles(one).includes('To all'))).toEqual([true, true, true, true])
  expect(await listeners()).toHaveLength(1)
})

test('who is nobody, or may not read, gets no stream', async () => {
  expect((await openStream(api.url)).status).toBe(401)
  const { token } = await api.agent(['work'])
  expect((await openStream(api.url, { authorization: `Bearer ${token}` })).status).toBe(403)
})

test('a server asked to stop ends its streams', async () => {
  const client = await openStream(api.url, await watcher())
  await expect.poll(() => client.named('hello')).toHaveLength(1)
  const began = performance.now()
  await api.stop()
  await client.ended
  expect(performance.now() - began).toBeLessThan(5000)
  expect(client.retries.at(-1)).toBeGreaterThan(3000)
})
