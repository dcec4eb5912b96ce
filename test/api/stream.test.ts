import { connect as connectTo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createEndpoint, type NewEndpoint } from '#lib/auth/endpoints'
import { cancel } from '#lib/queue/cancel'
import { enqueue } from '#lib/queue/enqueue'
import { heartbeat } from '#lib/queue/heartbeat'
import { putSetting } from '#lib/queue/setting-write'
import { person } from '../support/callers'
import { database } from '../support/database'
import { given, OPERATOR } from '../support/given'
import { signedIn } from '../support/people'
import { closeStreams, openStream, type StreamClient } from './stream-client'
import { streamSite } from './stream-site'

const { db, url: databaseUrl, sql, session } = database()

let site: Awaited<ReturnType<typeof streamSite>>
beforeAll(async () => {
  site = await streamSite(databaseUrl, { pollMs: 50, stream: { beatMs: 150, leaseMs: 50, mostOfCaller: 3 } })
  await given(db, 'pending')
})
afterEach(closeStreams)
afterAll(() => site.stop())

let endpoints = 0

async function token(more: Partial<NewEndpoint> = {}): Promise<Record<string, string>> {
  endpoints += 1
  const { token } = await createEndpoint(db, { name: `watcher-${endpoints}`, scopes: ['read'], ...more })
  return { authorization: `Bearer ${token}` }
}

const open = async (headers?: Record<string, string>, query = ''): Promise<StreamClient> =>
  openStream(site.url, headers ?? (await token()), `/api/v1/events${query}`)

const titles = (client: StreamClient) => client.named('transition').map(({ data }) => data.todo?.title)
const make = async (title: string, queue = 'main') =>
  (await enqueue(db, [{ queue, title }], OPERATOR))[0]?.todo.id as string

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
    const { hostname, port } = new URL(site.url)
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
    const admin = await signedIn(db, site.url, 'admin')
    const viewer = await signedIn(db, site.url, 'viewer')
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

describe('a client that comes back', () => {
  test('is told what it missed while nobody listened, once and in order, then what happens', async () => {
    const headers = await token()
    const client = await open(headers)
    await make('Seen')
    await expect.poll(() => titles(client)).toEqual(['Seen'])
    const cursor = client.cursor as string
    client.close()
    const missed = ['1', '2', '3', '4', '5']
    for (const title of missed) await make(title)
    const again = await open({ ...headers, 'last-event-id': cursor })
    await expect.poll(() => titles(again)).toEqual(missed)
    await make('Live')
    await expect.poll(() => titles(again)).toEqual([...missed, 'Live'])
    const byQuery = await open(headers, `?last_event_id=${encodeURIComponent(cursor)}`)
    await expect.poll(() => titles(byQuery)).toEqual([...missed, 'Live'])
    expect([again, byQuery].flatMap((one) => one.named('resync'))).toEqual([])
  })

  test('misses nothing that committed late under an early number, live and on replay', async () => {
    const insert = (note: string) => ({
      text: `INSERT INTO todo_events (verb, actor, data) VALUES ('setting', 'system', to_jsonb($1::text))`,
      values: [note],
    })
    const { cookie } = await signedIn(db, site.url, 'admin')
    const notes = (one: StreamClient) => one.named('setting').map(({ data }) => data.data)
    const client = await open({ cookie })
    const [early, late] = [await session(), await session()]
    await early.query('BEGIN')
    await late.query('BEGIN')
    await early.query(insert('early'))
    await late.query(insert('late'))
    await late.query('COMMIT')
    await expect.poll(() => notes(client)).toEqual(['late'])
    const between = client.cursor as string
    await early.query('COMMIT')
    await expect.poll(() => notes(client)).toEqual(['late', 'early'])
    const replayed = await open({ cookie, 'last-event-id': between })
    await expect.poll(() => notes(replayed)).toEqual(['early'])
    const after = await open({ cookie, 'last-event-id': client.cursor as string })
    await make('A later fact')
    await expect.poll(() => titles(after)).toEqual(['A later fact'])
    expect(notes(after)).toEqual([])
    expect(between < (client.cursor as string)).toBe(true)
  })

  test('while writers go on is told every event exactly once, wherever it was cut off', async () => {
    const headers = await token()
    const whole = await open(headers)
    let cursor: string | undefined
    const pieces: StreamClient[] = []
    const writing = Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        for (let n = 0; n < 40; n++) await make(`w${writer}-${n}`, 'busy')
      }),
    )
    await expect.poll(() => whole.cursor).toBeDefined()
    cursor = whole.named('transition')[0]?.id as string
    const first = titles(whole).slice(0, 1)
    const done = writing.then(() => true)
    while (!(await Promise.race([done, sleep(40, false)]))) {
      const piece = await open({ ...headers, 'last-event-id': cursor })
      await expect.poll(() => piece.cursor).toBeDefined()
      piece.close()
      await piece.ended
      pieces.push(piece)
      cursor = piece.cursor as string
    }
    const rest = await open({ ...headers, 'last-event-id': cursor })
    const all = () => [...first, ...pieces.flatMap(titles), ...titles(rest)]
    await expect.poll(() => all().length, { timeout: 5000 }).toBe(240)
    expect(new Set(all()).size).toBe(240)
    expect(pieces.length).toBeGreaterThan(1)
    for (let writer = 0; writer < 6; writer++) {
      const own = all().filter((title) => title.startsWith(`w${writer}-`))
      expect(own).toEqual(Array.from({ length: 40 }, (_, n) => `w${writer}-${n}`))
    }
  })

  test('with a cursor that is none, from a later log, another log, or before what is kept gets one resync and stays', async () => {
    const headers = await token()
    const client = await open(headers)
    await make('Kept')
    await expect.poll(() => client.cursor).toBeDefined()
    const good = client.cursor as string
    client.close()
    const [last = '', order, at] = good.split('.')
    const other = (id: number, when = at) => [id.toString(16).padStart(14, '0'), order, when].join('.')
    const newest = Number.parseInt(last, 16)
    for (const cursor of [
      'nonsense',
      '%00',
      '12',
      good.slice(1),
      other(newest + 1000),
      other(newest, '1'),
      other(2 ** 53 - 1),
    ]) {
      const one = await open({ ...headers, 'last-event-id': cursor })
      await expect.poll(() => one.named('resync')).toHaveLength(1)
      await make(`After ${cursor.length}`)
      await expect.poll(() => titles(one)).toHaveLength(1)
      expect(one.named('resync')).toHaveLength(1)
      one.close()
      await one.ended
    }
    await make('Newer')
    await sql`DELETE FROM todo_events WHERE id <= ${newest + 2}`
    const old = await open({ ...headers, 'last-event-id': good })
    await expect.poll(() => old.named('resync')).toHaveLength(1)
    // What was committed a moment ago may still reach it live, but nothing is replayed.
    expect(titles(old).filter((title) => title !== 'Newer')).toEqual([])
  })

  test('further behind than 10 000 events fetches anew', async () => {
    const headers = await token()
    const client = await open(headers)
    await make('Before')
    await expect.poll(() => client.cursor).toBeDefined()
    const { cursor } = client
    client.close()
    await sql`INSERT INTO todo_events (verb, actor) SELECT 'setting', 'system' FROM generate_series(1, 9000)`
    const near = await open({ ...headers, 'last-event-id': cursor as string })
    await expect.poll(() => near.named('setting').length, { timeout: 10_000 }).toBe(9000)
    expect(near.named('resync')).toEqual([])
    await sql`INSERT INTO todo_events (verb, actor) SELECT 'setting', 'system' FROM generate_series(1, 1100)`
    const far = await open({ ...headers, 'last-event-id': cursor as string })
    await expect.poll(() => far.named('resync')).toHaveLength(1)
    await make('After')
    await expect.poll(() => titles(far)).toEqual(['After'])
  })
})

describe('a reader too slow', () => {
  test('gets one resync once it reads on, and stays', async () => {
    const headers = await token()
    const quick = await open(headers)
    const big = 'x'.repeat(40_000)
    const { cookie } = await signedIn(db, site.url, 'admin')
    const stuck = await open({ cookie })
    stuck.pause()
    for (let n = 0; n < 60; n++) {
      await sql`INSERT INTO todo_events (verb, actor, data) SELECT 'setting', 'system', to_jsonb(${big}::text) FROM generate_series(1, 10)`
    }
    await expect.poll(() => quick.named('setting').length, { timeout: 10_000 }).toBe(600)
    stuck.resume()
    await expect.poll(() => stuck.named('resync').length, { timeout: 10_000 }).toBe(1)
    await make('Still there')
    await expect.poll(() => titles(stuck)).toEqual(['Still there'])
    expect(stuck.named('resync')).toHaveLength(1)
    expect(stuck.named('setting').length).toBeLessThan(600)
  })
})

describe('who may', () => {
  test('is asked before anything is told', async () => {
    expect((await open({})).status).toBe(401)
    expect((await open(await token({ scopes: ['work'] }))).status).toBe(403)
    const { cookie } = await signedIn(db, site.url, 'viewer')
    expect((await open({ cookie })).status).toBe(200)
    const head = await fetch(`${site.url}/api/v1/events`, { method: 'HEAD', headers: await token() })
    expect(head.headers.get('content-type')).toBe('text/event-stream')
    expect(await head.text()).toBe('')
  })

  test('is asked again at every beat: signed out, revoked, or with another role, the stream ends', async () => {
    const [leaving, changing] = [await signedIn(db, site.url), await signedIn(db, site.url, 'admin')]
    const headers = await token()
    const [out, narrowed, revoked] = [
      await open({ cookie: leaving.cookie }),
      await open({ cookie: changing.cookie }),
      await open(headers),
    ]
    await expect.poll(() => revoked.named('beat').length, { timeout: 5000 }).toBeGreaterThan(0)
    await leaving.send('POST', '/api/auth/sign-out', { json: {}, headers: { origin: site.url } })
    await sql`UPDATE people SET role = 'viewer' WHERE id = ${changing.person.id}`
    await sql`UPDATE endpoints SET revoked_at = now() WHERE name = ${`watcher-${endpoints}`}`
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
