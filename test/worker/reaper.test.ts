import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ring } from '#lib/db/bell'
import { connect } from '#lib/db/connect'
import { type Live, startLive } from '#lib/live/live'
import { claim } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { heartbeat } from '#lib/queue/heartbeat'
import { type Reaper, startReaper } from '#worker/reaper'
import { database } from '../support/database'
import { given, now, WORKER } from '../support/given'
import { startProxy } from '../support/proxy'
import { recordedLog } from '../support/recorded-log'

const { db, sql, session, url } = database()

const ends: (() => Promise<unknown>)[] = []
beforeEach(() => sql`TRUNCATE todos, todo_attempts, todo_events, queues, settings CASCADE`)
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A reaper that has ticked once and sleeps, its log and its live. */
async function reaping(
  on = db,
): Promise<{ reaper: Reaper; live: Live; lines: ReturnType<typeof recordedLog>['lines'] }> {
  const live = await startLive(on, { retryMs: 20, pollDeafMs: 20 })
  const { log, lines } = recordedLog()
  const reaper = startReaper(on, { live, log })
  ends.push(live.stop, reaper.stop)
  return { reaper, live, lines }
}

const ticked = ({ reaper }: { reaper: Reaper }, after: string | null = null) =>
  expect.poll(() => reaper.standing().lastTickAt, { timeout: 5000 }).not.toBe(after)

const stateOf = async (id: string) => (await now(db, id)).state

/** Tells the log that a setting has changed, as whoever changes one does. */
async function settingChanged(): Promise<void> {
  await sql`INSERT INTO todo_events (verb, actor) VALUES ('setting', 'system')`
  ring(db, 'log')
}

/** How often the bell of waiting claimers rings. */
async function bells() {
  const listener = await session()
  const heard = { count: 0 }
  listener.on('notification', () => heard.count++)
  await listener.query('LISTEN switchboard_ready')
  return heard
}

describe('a sleeping reaper', () => {
  test('is woken by a lease that ends sooner than it would have got up', async () => {
    const one = await reaping()
    await ticked(one)
    const { id } = await given(db, 'claimed', { leaseSeconds: 1 })
    await expect.poll(() => stateOf(id), { timeout: 5000 }).toBe('pending')
    expect((await now(db, id)).lease_expirations).toBe(1)
  })

  test('takes a beat that leaves no event for what it is: nothing to reap', async () => {
    const one = await reaping()
    await ticked(one)
    const { lastTickAt: atFirst } = one.reaper.standing()
    const { id, held } = await given(db, 'claimed', { leaseSeconds: 1 })
    await ticked(one, atFirst)
    const { lastTickAt: onceWoken } = one.reaper.standing()
    await heartbeat(db, { ...held, leaseSeconds: 3600 }, WORKER)
    await ticked(one, onceWoken)
    expect(one.lines).toEqual([])
    await complete(db, held, WORKER, null)
    expect(await stateOf(id)).toBe('completed')
  })

  test('is woken by a changed setting, and follows it', async () => {
    await sql`INSERT INTO settings (key, value) VALUES ('interrupt_lease_ttl_seconds', '0')`
    const one = await reaping()
    await ticked(one)
    const { id } = await given(db, 'input-required', { ago: { interrupted_at: 7200 } })
    await sql`UPDATE settings SET value = '3600'`
    await settingChanged()
    await expect.poll(() => stateOf(id), { timeout: 5000 }).toBe('pending')
  })

  test('learns of a new deadline of parked questions without being started anew, and of its end', async () => {
    const parked = { question: { mode: 'park' }, ago: { interrupted_at: 7200 } } as const
    const one = await reaping()
    await ticked(one)
    const { id } = await given(db, 'input-required', parked)
    await sql`INSERT INTO settings (key, value) VALUES ('parked_interrupt_ttl_seconds', '3600')`
    await settingChanged()
    await expect.poll(() => stateOf(id), { timeout: 5000 }).toBe('pending')
    expect(await now(db, id)).toMatchObject({ wait_expirations: 1, lease_expirations: 0 })
    await sql`UPDATE settings SET value = '0'`
    const other = await given(db, 'input-required', parked)
    const { lastTickAt } = one.reaper.standing()
    await settingChanged()
    await ticked(one, lastTickAt)
    expect(await stateOf(other.id)).toBe('input-required')
  })

  test('leaves a locked row for a second, then takes it', async () => {
    const { id } = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    const holder = await session()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM todos WHERE id = $1 FOR UPDATE', [id])
    const one = await reaping()
    await ticked(one)
    expect(one.lines).toEqual([])
    await holder.query('ROLLBACK')
    await expect.poll(() => stateOf(id), { timeout: 5000 }).toBe('pending')
  })

  test('goes on after the database was away', async () => {
    const proxy = await startProxy(url)
    const distant = connect({ databaseUrl: proxy.url, max: 4 })
    ends.push(distant.close, proxy.close)
    const one = await reaping(distant)
    await ticked(one)
    await proxy.close()
    await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    await proxy.open()
    await expect.poll(() => one.lines.map(({ msg }) => msg), { timeout: 10_000 }).toContain('reaped expired leases')
  })
})

describe('the log', () => {
  test('has one line for all that a tick took back, and none when there was nothing', async () => {
    await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    await given(db, 'input-required', { ago: { interrupted_at: 100_000 } })
    const one = await reaping()
    await ticked(one)
    expect(one.lines).toEqual([{ level: 30, time: expect.any(Number), count: 3, msg: 'reaped expired leases' }])
  })

  test('names a setting that cannot be read once, and again when it changes', async () => {
    await sql`INSERT INTO settings (key, value) VALUES ('interrupt_lease_ttl_seconds', '1 day')`
    const one = await reaping()
    await ticked(one)
    const wake = async () => {
      const { lastTickAt } = one.reaper.standing()
      await settingChanged()
      await ticked(one, lastTickAt)
    }
    await wake()
    expect(one.lines.map(({ level, msg }) => [level, msg])).toEqual([
      [40, 'setting interrupt_lease_ttl_seconds: "1 day" is not an integer; the default is in force'],
    ])
    await sql`UPDATE settings SET value = '1d'`
    await wake()
    expect(one.lines).toHaveLength(2)
    expect(one.lines[1]?.msg).toContain('"1d"')
  })

  test('says once that the revisions differ, and that they agree again', async () => {
    await sql`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
      VALUES ('newer', 'none', '29990101000000_newer', now(), 1)`
    const { id } = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    const one = await reaping()
    await expect.poll(() => one.lines).toHaveLength(1)
    expect(one.lines[0]).toMatchObject({ level: 40, database: '29990101000000_newer' })
    expect(one.lines[0]?.msg).toMatch(
      /^refusing to sweep: this build knows .+, the database is at 29990101000000_newer$/,
    )
    expect(one.reaper.standing().refused).toMatchObject({ database: '29990101000000_newer' })

    await sql`DELETE FROM _prisma_migrations WHERE id = 'newer'`
    await expect.poll(() => stateOf(id), { timeout: 5000 }).toBe('pending')
    await expect.poll(() => one.lines).toHaveLength(3)
    expect(
      one.lines
        .slice(1)
        .map(({ msg }) => msg)
        .sort(),
    ).toEqual(['reaped expired leases', 'sweeping again: the database is at the revision that this build knows'])
  })
})

describe('the bell of waiting claimers', () => {
  test('rings when a delay is over', async () => {
    const one = await reaping()
    await ticked(one)
    const heard = await bells()
    await given(db, 'pending', { todo: { delay_seconds: 1 } })
    expect(heard.count).toBe(0)
    await expect.poll(() => heard.count, { timeout: 5000 }).toBeGreaterThan(0)
  })

  test('brings a delayed todo to a claimer that waits', async () => {
    const one = await reaping()
    await ticked(one)
    const { id } = await given(db, 'pending', { todo: { queue: 'later', delay_seconds: 1 } })
    const claimed = one.live.whenReady({ queues: ['later'], endpoint: WORKER.name }, { timeoutMs: 8000 }, () =>
      claim(db, { queues: ['later'] }, WORKER),
    )
    expect((await claimed).map((todo) => todo.id)).toEqual([id])
  })

  test('rings when a full queue has room again', async () => {
    const { held } = await given(db, 'claimed', { todo: { queue: 'narrow' } })
    await sql`UPDATE queues SET max_claimed = 1 WHERE name = 'narrow'`
    const one = await reaping()
    await ticked(one)
    const heard = await bells()
    await complete(db, held, WORKER, null)
    await expect.poll(() => heard.count).toBeGreaterThan(0)
  })

  test('rings when a queue is open again, or has become wider', async () => {
    await given(db, 'pending', { todo: { queue: 'gated' } })
    await sql`UPDATE queues SET paused = true, max_claimed = 1 WHERE name = 'gated'`
    const one = await reaping()
    await ticked(one)
    const heard = await bells()
    const change = async () => {
      const { lastTickAt } = one.reaper.standing()
      await settingChanged()
      await ticked(one, lastTickAt)
    }
    await change()
    expect(heard.count).toBe(0)
    await sql`UPDATE queues SET paused = false WHERE name = 'gated'`
    await change()
    await expect.poll(() => heard.count).toBe(1)
    await sql`UPDATE queues SET max_claimed = 5 WHERE name = 'gated'`
    await change()
    await expect.poll(() => heard.count).toBe(2)
    await sql`UPDATE queues SET max_claimed = 2 WHERE name = 'gated'`
    await change()
    expect(heard.count).toBe(2)
  })
})

test('stopping ends the sleep at once, and a tick after the batch under way', async () => {
  const one = await reaping()
  await ticked(one)
  const began = performance.now()
  await one.reaper.stop()
  expect(performance.now() - began).toBeLessThan(1000)
})
