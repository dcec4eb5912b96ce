import { afterEach, describe, expect, test } from 'vitest'
import { readEnvironment } from '#worker/environment'
import { startWorker } from '#worker/worker'
import { database } from '../support/database'
import { freePort } from '../support/free-port'
import { given, now } from '../support/given'
import { recordedLog } from '../support/recorded-log'

const { db, sql, url } = database()

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A worker in this process, with what it logs and where it answers. */
async function working({ databaseUrl = url, metricsToken = null as string | null } = {}) {
  const port = await freePort()
  const { log, lines } = recordedLog()
  const worker = await startWorker({ databaseUrl, host: '127.0.0.1', port, metricsToken }, log)
  ends.push(worker.stop)
  return { at: `http://127.0.0.1:${port}`, port, lines }
}

const get = async (address: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(address, { headers })
  return { status: answer.status, text: await answer.text() }
}

const ready = ({ at }: { at: string }) =>
  expect.poll(async () => (await get(`${at}/readyz`)).status, { timeout: 10_000 }).toBe(200)

describe('the health of the worker', () => {
  test('is ready once the database answers, the revisions agree and a tick is over', async () => {
    const one = await working()
    await ready(one)
    expect(JSON.parse((await get(`${one.at}/readyz`)).text)).toEqual({
      status: 'ready',
      reason: null,
      database: true,
      migrations: { build: expect.any(String), database: expect.any(String), matches: true },
      listener: expect.stringMatching(/listening|polling/),
      last_tick_at: expect.any(String),
    })
    expect((await get(`${one.at}/healthz`)).status).toBe(200)
    expect((await get(`${one.at}/elsewhere`)).status).toBe(404)
    expect((await fetch(`${one.at}/readyz`, { method: 'POST' })).status).toBe(405)
  })

  test('names both revisions while they differ, and recovers by itself', async () => {
    await sql`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
      VALUES ('newer', 'none', '29990101000000_newer', now(), 1)`
    const one = await working()
    const { status, text } = await get(`${one.at}/readyz`)
    expect(status).toBe(503)
    expect(JSON.parse(text)).toMatchObject({
      status: 'not_ready',
      reason: expect.stringMatching(/^This build knows \S+, the database is at 29990101000000_newer$/),
      migrations: { database: '29990101000000_newer', matches: false },
    })
    await sql`DELETE FROM _prisma_migrations WHERE id = 'newer'`
    await ready(one)
  })

  test('tells of a database that does not answer', async () => {
    const { at } = await working({ databaseUrl: `postgresql://nobody@127.0.0.1:${await freePort()}/none` })
    const { status, text } = await get(`${at}/readyz`)
    expect(status).toBe(503)
    expect(JSON.parse(text)).toMatchObject({
      reason: 'The database does not answer',
      database: false,
      migrations: null,
    })
    expect((await get(`${at}/healthz`)).status).toBe(200)
  })

  test('cannot be had at a port that is taken', async () => {
    const { port } = await working()
    const { log } = recordedLog()
    const other = startWorker({ databaseUrl: url, host: '127.0.0.1', port, metricsToken: null }, log)
    await expect(other).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('the metrics of the worker', () => {
  test('hold every state of every queue, zero included, and what waits longest', async () => {
    const queue = 'measured'
    await given(db, 'pending', { todo: { queue }, ago: { available_at: 100 } })
    await given(db, 'pending', { todo: { queue }, ago: { available_at: -100 } })
    await given(db, 'claimed', { todo: { queue } })
    await given(db, 'auth-required', { todo: { queue }, ago: { interrupted_at: 50 } })
    await given(db, 'completed', { todo: { queue } })
    await given(db, 'canceled', { todo: { queue } })
    const one = await working()
    const metrics = async () => (await get(`${one.at}/metrics`)).text
    await expect.poll(metrics, { timeout: 10_000 }).toContain(`switchboard_queue_todos{queue="${queue}"`)

    const text = await metrics()
    const value = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      )
    const counts = { pending: 2, claimed: 1, 'input-required': 0, 'auth-required': 1, waiting: 0 }
    const ended = { completed: 1, failed: 0, canceled: 1, rejected: 0 }
    for (const [state, count] of Object.entries({ ...counts, ...ended })) {
      expect([state, value(`switchboard_queue_todos{queue="${queue}",state="${state}"}`)]).toEqual([state, count])
    }
    expect(Math.floor(value(`switchboard_queue_oldest_pending_seconds{queue="${queue}"}`) / 50)).toBe(2)
    expect(Math.floor(value(`switchboard_oldest_interrupt_seconds{queue="${queue}"}`) / 50)).toBe(1)
    expect(value('switchboard_reaper_last_tick_timestamp_seconds')).toBeGreaterThan(0)
    expect(value('switchboard_reaper_tick_seconds_count')).toBeGreaterThan(0)
  })

  test('are told only to who has the token, where there is one', async () => {
    const { at } = await working({ metricsToken: 'a secret of the scraper' })
    expect((await get(`${at}/metrics`)).status).toBe(401)
    expect((await get(`${at}/metrics`, { authorization: 'Bearer a secret of the scrape' })).status).toBe(401)
    expect((await get(`${at}/metrics`, { authorization: 'Bearer a secret of the scraper' })).status).toBe(200)
  })

  test('are told to nobody through a proxy, where there is none', async () => {
    const { at } = await working()
    expect((await get(`${at}/metrics`, { 'x-forwarded-for': '192.0.2.1' })).status).toBe(403)
    expect((await get(`${at}/metrics`)).status).toBe(200)
  })
})

test('a worker takes back what lapsed while it was not there', async () => {
  const { id } = await given(db, 'claimed', { ago: { lease_expires_at: 3600 } })
  const one = await working()
  await ready(one)
  expect((await now(db, id)).state).toBe('pending')
  expect(one.lines.map(({ msg }) => msg)).toEqual(['reaped expired leases'])
})

describe('the environment', () => {
  test('needs nothing but the database', () => {
    expect(readEnvironment({ DATABASE_URL: 'postgresql://here/db' })).toEqual({
      databaseUrl: 'postgresql://here/db',
      host: '127.0.0.1',
      port: 4301,
      metricsToken: null,
    })
  })

  test('is refused with every variable that is wrong', () => {
    const wrong = { DATABASE_URL: 'mysql://somewhere', SWITCHBOARD_PORT: '70000' }
    expect(() => readEnvironment(wrong)).toThrow(
      /^SWITCHBOARD_PORT must be a whole number from 0 to 65535, not "70000"\nDATABASE_URL must look like postgresql:/,
    )
    expect(() => readEnvironment({})).toThrow(/DATABASE_URL is missing/)
    expect(() => readEnvironment({ DATABASE_URL: 'postgres://h/d', SWITCHBOARD_PORT: '4e3' })).toThrow(/not "4e3"/)
  })
})
