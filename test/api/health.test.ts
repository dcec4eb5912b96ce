import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeCore, openCore } from '#lib/api/core'
import { type Fact, readHealth } from '#lib/api/health'
import { database } from '../support/database'

const { url, sql } = database()

// What a worker would say on /readyz; null: it doesn't answer.
let says: object | null = null
let worker: Server

beforeAll(async () => {
  worker = createServer((_, response) => (says ? response.end(JSON.stringify(says)) : response.destroy()))
  await new Promise<void>((listening) => worker.listen(0, '127.0.0.1', listening))
  process.env.SWITCHBOARD_WORKER_URL = `http://127.0.0.1:${(worker.address() as AddressInfo).port}/`
})
afterAll(() => {
  delete process.env.SWITCHBOARD_WORKER_URL
  worker.close()
})

async function health(databaseUrl = url): Promise<{ facts: Record<string, Fact>; settings: unknown }> {
  const core = await openCore(databaseUrl)
  try {
    await expect.poll(() => core.live.isListening || databaseUrl !== url).toBe(true)
    const { facts, settings } = await readHealth(core)
    return { facts: Object.fromEntries(facts.map((fact) => [fact.name, fact])), settings }
  } finally {
    await closeCore(core)
  }
}

const swept = (secondsAgo: number) => ({
  reason: null,
  last_tick_at: new Date(Date.now() - secondsAgo * 1000).toISOString(),
})

test('all is well when database, migrations, notifications and worker are', async () => {
  says = swept(4)
  const { facts } = await health()
  expect(Object.values(facts).map(({ standing }) => standing)).toEqual(['good', 'good', 'good', 'good'])
  expect(facts.Worker?.fact).toMatch(/^Swept [3-6] s ago$/)
})

test('a worker that is away, does not sweep, or swept long ago is said so', async () => {
  says = null
  expect((await health()).facts.Worker).toMatchObject({
    standing: 'bad',
    fact: expect.stringMatching(/^Does not answer/),
  })
  says = { reason: 'A migration is under way', last_tick_at: null }
  expect((await health()).facts.Worker).toMatchObject({
    standing: 'bad',
    fact: 'Does not sweep: A migration is under way',
  })
  says = swept(300)
  expect((await health()).facts.Worker?.standing).toBe('warning')
})

test('a database of another revision names both', async () => {
  says = swept(1)
  await sql`UPDATE _prisma_migrations SET migration_name = '29990101000000_later'
    WHERE migration_name LIKE '%lease_expirations'`
  const { Migrations } = (await health()).facts
  await sql`UPDATE _prisma_migrations SET migration_name = '20261103000000_lease_expirations'
    WHERE migration_name LIKE '%later'`
  expect(Migrations?.standing).toBe('bad')
  expect(Migrations?.fact).toContain('29990101000000_later')
})

test('a database that is away is said so, and everything else is still told', async () => {
  says = swept(1)
  const { facts, settings } = await health('postgresql://nobody@127.0.0.1:1/nothing')
  expect(facts.Database?.standing).toBe('bad')
  expect(facts.Database?.fact).toContain('ECONNREFUSED')
  expect(facts.Migrations?.standing).toBe('warning')
  expect(facts.Worker?.standing).toBe('good')
  expect(settings).toBe(null)
})

test('the settings in force come along', async () => {
  says = swept(1)
  await sql`INSERT INTO settings (key, value) VALUES ('default_lease_seconds', '90')`
  expect((await health()).settings).toMatchObject({ default_lease_seconds: { value: 90 } })
})
