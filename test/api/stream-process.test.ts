import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { createEndpoint } from '#lib/auth/endpoints'
import { enqueue } from '#lib/queue/enqueue'
import { database } from '../support/database'
import { OPERATOR } from '../support/given'
import { startProxy } from '../support/proxy'
import { closeStreams, openStream, type StreamClient } from './stream-client'
import { streamSite } from './stream-site'

const { db, url: databaseUrl, sql } = database()

const children: ChildProcess[] = []
afterEach(closeStreams)
afterAll(() => {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
})

/** A web process of its own, once it serves. */
async function start(): Promise<{ child: ChildProcess; url: string }> {
  const { PATH = '' } = process.env
  const env = { PATH, NODE_ENV: 'production' as const, DATABASE_URL: databaseUrl, SWITCHBOARD_PORT: '0' }
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/api/web-child.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const { url } = JSON.parse(line)
    if (!url) continue
    child.stdout?.resume()
    return { child, url }
  }
  throw new Error('The web process ended without serving')
}

let endpoints = 0

async function watcher(): Promise<Record<string, string>> {
  endpoints += 1
  const { token } = await createEndpoint(db, { name: `watcher-${endpoints}`, scopes: ['read'] })
  return { authorization: `Bearer ${token}` }
}

const titles = (client: StreamClient) => client.named('transition').map(({ data }) => data.todo?.title)

describe('a web process with open streams', () => {
  test('has one listening connection, and asked to stop tells its clients when to come back and is gone within 5 s', async () => {
    const { child, url } = await start()
    const headers = await watcher()
    const clients = [await openStream(url, headers), await openStream(url, headers), await openStream(url, headers)]
    clients[2]?.pause()
    await enqueue(db, [{ queue: 'main', title: 'Seen' }], OPERATOR)
    await expect.poll(() => clients.slice(0, 2).map(titles)).toEqual([['Seen'], ['Seen']])
    const listeners = () => sql`SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND application_name = 'switchboard-listener'`
    expect(await listeners()).toHaveLength(1)

    const began = performance.now()
    child.kill('SIGTERM')
    await Promise.all(clients.slice(0, 2).map(({ ended }) => ended))
    if (child.exitCode === null) await once(child, 'exit')
    expect(performance.now() - began).toBeLessThan(5000)
    expect(child.exitCode).toBe(0)
    for (const { retries } of clients.slice(0, 2)) {
      expect(retries).toHaveLength(2)
      expect(retries[1]).toBeGreaterThanOrEqual(3000)
    }
  })

  test('spreads those who come back after a stop over 5 s and more', async () => {
    const site = await streamSite(databaseUrl)
    const headers = await watcher()
    const clients = await Promise.all(Array.from({ length: 50 }, () => openStream(site.url, headers)))
    await site.stop()
    await Promise.all(clients.map(({ ended }) => ended))
    const waits = clients.map(({ retries }) => retries.at(-1) as number)
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(5000)
  })

  test('takes no stream any more once it stops', async () => {
    const site = await streamSite(databaseUrl)
    await site.live.stop()
    expect(await openStream(site.url, await watcher())).toMatchObject({ status: 503, headers: { 'retry-after': '2' } })
    await site.stop()
  })
})

// Only a look that the listener's loss brings about finds what is told to nobody: the log is not polled while it is up.
test.each([
  ['in short', { beatMs: 100, answerMs: 300, retryMs: 20 }],
  ['in force', {}],
])(
  'a listening connection gone half-open is noticed and its streams caught up within 20 s, by the times %s',
  async (_, timing) => {
    const proxy = await startProxy(databaseUrl)
    const site = await streamSite(databaseUrl, { pollMs: 3_600_000, ...timing }, proxy.url)
    const client = await openStream(site.url, await watcher())
    await expect.poll(() => site.live.isListening, { timeout: 10_000 }).toBe(true)
    await expect.poll(() => client.named('hello'), { timeout: 10_000 }).toHaveLength(1)
    proxy.freeze()
    const began = performance.now()
    await enqueue(db, [{ queue: 'main', title: 'In the dark' }], OPERATOR)
    await expect.poll(() => titles(client), { timeout: 20_000 }).toEqual(['In the dark'])
    expect(performance.now() - began).toBeLessThan(20_000)
    client.close()
    await site.stop()
    await proxy.close()
  },
  60_000,
)
