import { connect as connectTo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { cancel } from '#lib/queue/cancel'
import { heartbeat } from '#lib/queue/heartbeat'
import { putSetting } from '#lib/queue/setting-write'
import { person } from '../support/callers'
import { given, OPERATOR } from '../support/given'
import { signedIn } from '../support/people'
import { openStream } from './stream-client'
import { streamSite } from './stream-site'
import { titles, watchers } from './stream-watchers'

const watched = watchers()
const { db, url: databaseUrl, sql, token, open, make } = watched

describe('the stream', () => {
  test('says how it is to be read, when to come back and what time it is, then tells what happens', async () => {
    const client = await open()
    expect(client.status).toBe(200)
    expect(client.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'content-encoding': 'none',
      'x-accel-buffering': 'no',
    })
    await expect.poll(() => client.heard.length).toBeGreaterThan(0)
    expect(client.retries).toEqual([3000])
    expect(client.heard[0]).toMatchObject({ name: 'hello', id: undefined })
    expect(Math.abs(Date.parse(client.heard[0]?.data.now) - Date.now())).toBeLessThan(2000)

    const id = await make('First')
    await expect.poll(() => client.named('ready')).toHaveLength(1)
    expect(client.named('transition')).toMatchObject([
      {
        id: expect.stringMatching(/^\S+$/),
        data: { verb: 'created', from: null, to: 'pending', todo: { id, version: 1 } },
      },
    ])
    expect(client.named('ready')).toMatchObject([
      { id: undefined, data: { todo_id: id, queue: 'main', reason: 'created' } },
    ])
    const events = client.heard.filter(({ name }) => name === 'transition' || name === 'ready')
    expect(events.map(({ name }) => name)).toEqual(['transition', 'ready'])
  })

  test('reaches a client that takes gzip within a second, unbuffered', async () => {
    const { hostname, port } = new URL(watched.site.url)
    const { authorization } = await token()
    const socket = connectTo(Number(port), hostname)
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    const head = [
      'GET /api/v1/events HTTP/1.1',
      'Host: x',
      `Authorization: ${authorization}`,
      'Accept-Encoding: gzip, br',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    await expect.poll(() => text).toContain('event: hello')
    const began = performance.now()
    await make('At once')
    await expect.poll(() => text, { interval: 5 }).toContain('At once')
    expect(performance.now() - began).toBeLessThan(1000)
    socket.destroy()
  })

  test('tells each setting that changes, and what it is to admins alone', async () => {
    const admin = await signedIn(db, watched.site.url, 'admin')
    const viewer = await signedIn(db, watched.site.url, 'viewer')
    const [full, plain] = [await open({ cookie: admin.cookie }), await open({ cookie: viewer.cookie })]
    await putSetting(db, 'sse_retry_ms', { value: '1500', version: 0 }, person('admin-1'))
    await expect.poll(() => [full, plain].map((one) => one.named('setting').length)).toEqual([1, 1])
    expect(full.named('setting')[0]?.data).toMatchObject({
      actor: 'user:admin-1',
      data: { key: 'sse_retry_ms', after: '1500' },
    })
    expect(plain.named('setting')[0]?.data).toMatchObject({ actor: null, data: null })
    const retried = async () => {
      const client = await open()
      await expect.poll(() => client.named('hello')).toHaveLength(1)
      return client.retries
    }
    await expect.poll(retried, { interval: 300, timeout: 5000 }).toEqual([1500])
    await putSetting(db, 'sse_retry_ms', { value: null, version: 1 }, person('admin-1'))
  })

  test('tells leases that are kept, of claimed todos, without an id', async () => {
    const { held, id, worker } = await given(db, 'claimed', { leaseSeconds: 100 })
    const client = await open()
    await sleep(200)
    expect(client.named('lease')).toEqual([])
    await heartbeat(db, { ...held, leaseSeconds: 900, progress: { done: 3 } }, worker)
    await expect.poll(() => client.named('lease')).toHaveLength(1)
    const [row] = await sql`SELECT lease_expires_at FROM todos WHERE id = ${id}`
    expect(client.named('lease')[0]).toMatchObject({
      id: undefined,
      data: { todo_id: id, lease_expires_at: row?.lease_expires_at, progress: { done: 3 } },
    })
  })

  test('beats with a comment, the time and where the client stands', async () => {
    const client = await open()
    await make('Before the beat')
    await expect.poll(() => client.named('transition').length).toBe(1)
    await expect.poll(() => client.named('beat').length, { timeout: 5000 }).toBeGreaterThan(1)
    expect(client.comments.length).toBeGreaterThan(1)
    expect(client.named('beat').at(-1)?.id).toBe(client.named('transition')[0]?.id)
  })
})

describe('filters', () => {
  test('of a queue and of a todo leave out what belongs elsewhere', async () => {
    const all = await open()
    const id = await make('Mine', 'one')
    // A stream opened before the process has read a commit is told of it.
    await expect.poll(() => titles(all)).toEqual(['Mine'])
    const [queue, todo] = [await open(undefined, '?queue=one'), await open(undefined, `?todo_id=${id}`)]
    await make('Other', 'two')
    await make('Second', 'one')
    await cancel(db, id, OPERATOR)
    await expect.poll(() => titles(queue)).toEqual(['Second', 'Mine'])
    await expect.poll(() => titles(todo)).toEqual(['Mine'])
  })

  test('an endpoint sees its own queues alone, live and on replay', async () => {
    const headers = await token({ queues: ['ours'] })
    const client = await open(headers)
    await make('Theirs', 'theirs')
    await make('Ours', 'ours')
    await expect.poll(() => titles(client)).toEqual(['Ours'])
    const { cursor } = client
    client.close()
    await make('Theirs again', 'theirs')
    await make('Ours again', 'ours')
    const again = await open({ ...headers, 'last-event-id': cursor as string })
    await expect.poll(() => titles(again)).toEqual(['Ours again'])
  })

  test('name a queue or a todo of others: refused', async () => {
    const headers = await token({ queues: ['ours'] })
    const id = await make('Theirs', 'theirs')
    const status = async (query: string) => (await open(headers, query)).status
    expect(await status('?queue=theirs')).toBe(403)
    expect(await status(`?todo_id=${id}`)).toBe(404)
    expect(await status('?todo_id=nonsense')).toBe(422)
    expect(await status('?nonsense=1')).toBe(422)
  })
})

describe('who may', () => {
  test('is asked before anything is told', async () => {
    expect((await open({})).status).toBe(401)
    expect((await open(await token({ scopes: ['work'] }))).status).toBe(403)
    const { cookie } = await signedIn(db, watched.site.url, 'viewer')
    expect((await open({ cookie })).status).toBe(200)
    const head = await fetch(`${watched.site.url}/api/v1/events`, { method: 'HEAD', headers: await token() })
    expect(head.headers.get('content-type')).toBe('text/event-stream')
    expect(await head.text()).toBe('')
  })

  test('is asked again at every beat: signed out, revoked, or with another role, the stream ends', async () => {
    const [leaving, changing] = [await signedIn(db, watched.site.url), await signedIn(db, watched.site.url, 'admin')]
    const headers = await token({ name: 'revoked-soon' })
    const [out, narrowed, revoked] = [
      await open({ cookie: leaving.cookie }),
      await open({ cookie: changing.cookie }),
      await open(headers),
    ]
    await expect.poll(() => revoked.named('beat').length, { timeout: 5000 }).toBeGreaterThan(0)
    await leaving.send('POST', '/api/auth/sign-out', { json: {}, headers: { origin: watched.site.url } })
    await sql`UPDATE people SET role = 'viewer' WHERE id = ${changing.person.id}`
    await sql`UPDATE endpoints SET revoked_at = now() WHERE name = 'revoked-soon'`
    await Promise.all([out.ended, narrowed.ended, revoked.ended])
    expect((await open(headers)).status).toBe(401)
    expect((await open({ cookie: changing.cookie })).status).toBe(200)
  })

  test('has so many streams at most, and gets the place back of one that ended', async () => {
    const headers = await token()
    const three = [await open(headers), await open(headers), await open(headers)]
    const refused = await open(headers)
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '30' } })
    three[0]?.close()
    await expect.poll(async () => (await open(headers)).status).toBe(200)
    const small = await streamSite(databaseUrl, { stream: { most: 1 } })
    const statuses = [await openStream(small.url, headers), await openStream(small.url, headers)].map(
      (one) => one.status,
    )
    expect(statuses).toEqual([200, 503])
    await small.stop()
  })
})
