import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { signedIn } from '../support/people'
import type { StreamClient } from './stream-client'
import { titles, watchers } from './stream-watchers'

const watched = watchers()
const { db, sql, session, token, open, make } = watched

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
    const { cookie } = await signedIn(db, watched.site.url, 'admin')
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
    const { cookie } = await signedIn(db, watched.site.url, 'admin')
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
