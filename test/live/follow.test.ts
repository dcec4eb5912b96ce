import { afterEach, describe, expect, test } from 'vitest'
import { connect } from '#lib/db/connect'
import type { HookName, Hooks } from '#lib/live/hooks'
import { type Live, type LiveTiming, startLive } from '#lib/live/live'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { release } from '#lib/queue/release'
import { database } from '../support/database'
import { given, WORKER } from '../support/given'
import { startProxy } from '../support/proxy'

const { db, session, url } = database()

const started: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.stop()))
})

async function live(timing: LiveTiming = {}, on = db): Promise<Live> {
  const made = await startLive(on, timing)
  started.push(made)
  return made
}

/** The next facts of a hook, as many as asked for. */
function next<Name extends HookName>({ on }: Live, name: Name, count: number): Promise<Hooks[Name][]> {
  return new Promise((resolve) => {
    const facts: Hooks[Name][] = []
    const off = on(name, (fact) => {
      if (facts.push(fact) < count) return
      off()
      resolve(facts)
    })
  })
}

const NEVER = 3_600_000

const insert = (note: string) => ({
  text: `INSERT INTO todo_events (verb, actor, data) VALUES ('setting', 'system', to_jsonb($1::text)) RETURNING id`,
  values: [note],
})

describe('the hooks', () => {
  test('tell every transition once, in log order, with the todo as it is now', async () => {
    const heard = next(await live(), 'transition', 3)
    const { id, held } = await given(db, 'claimed')
    await complete(db, held, WORKER, { done: true })

    const facts = await heard
    expect(facts.map(({ verb, from, to }) => [verb, from, to])).toEqual([
      ['created', null, 'pending'],
      ['claimed', 'pending', 'claimed'],
      ['completed', 'claimed', 'completed'],
    ])
    expect(facts.map(({ todo }) => todo?.id)).toEqual([id, id, id])
    expect(facts[2]).toMatchObject({
      todo: { state: 'completed', version: 3 },
      reason: null,
      actor: 'worker:worker-1/default',
      attempt_seq: 1,
      lease_epoch: 1,
    })
    expect(facts[2]?.todo).not.toHaveProperty('result')
    expect(facts[0]?.event_id).toBeLessThan(facts[1]?.event_id as number)
  })

  test('tell every landing in pending, and why', async () => {
    const heard = next(await live(), 'ready', 2)
    const { id, held } = await given(db, 'claimed', { todo: { queue: 'mail' } })
    const released = await release(db, held, WORKER)
    // When it is due is told as it is when the log is read, which may be after the release.
    expect(await heard).toEqual([
      { todo_id: id, queue: 'mail', reason: 'created', available_at: expect.any(String) },
      { todo_id: id, queue: 'mail', reason: 'released', available_at: released.available_at },
    ])
  })

  test('tell nothing that was committed before', async () => {
    await given(db, 'completed')
    const heard = next(await live(), 'transition', 1)
    const { id } = await given(db, 'pending')
    expect((await heard).map(({ todo }) => todo?.id)).toEqual([id])
  })

  test('tell facts that belong to no todo on a hook of their own', async () => {
    const heard = next(await live(), 'setting', 1)
    await db.query(insert('a setting'))
    expect(await heard).toMatchObject([{ verb: 'setting', todo_id: null, data: 'a setting' }])
  })

  test('go on when one of them throws', async () => {
    const watching = await live()
    watching.on('transition', () => {
      throw new Error('This hook is broken')
    })
    const heard = next(watching, 'transition', 2)
    await given(db, 'claimed')
    expect(await heard).toHaveLength(2)
  })

  test('are silent for what is rolled back', async () => {
    const heard = next(await live(), 'transition', 1)
    await db
      .transaction(async (tx) => {
        await given(tx, 'pending')
        throw new Error('Never mind')
      })
      .catch(() => {})
    const { id } = await given(db, 'pending')
    expect((await heard)[0]?.todo?.id).toBe(id)
  })
})

describe('the follower', () => {
  test('loses nothing when an early number commits after a late one', async () => {
    const watching = await live({ pollMs: 20 })
    const [early, late] = [await session(), await session()]
    await early.query('BEGIN')
    await late.query('BEGIN')
    await early.query(insert('early'))
    await late.query(insert('late'))

    const first = next(watching, 'setting', 1)
    await late.query('COMMIT')
    expect((await first)[0]?.data).toBe('late')

    const second = next(watching, 'setting', 1)
    await early.query('COMMIT')
    expect((await second)[0]?.data).toBe('early')
  })

  test('loses nothing of what was open when it began', async () => {
    const early = await session()
    await early.query('BEGIN')
    await early.query(insert('begun before'))
    await db.query(insert('committed before'))

    const heard = next(await live({ pollMs: 20 }), 'setting', 1)
    await early.query('COMMIT')
    expect((await heard)[0]?.data).toBe('begun before')
  })

  test('reads more than one look holds, each event once', async () => {
    const heard = next(await live(), 'setting', 1200)
    await db.query({
      text: `INSERT INTO todo_events (verb, actor, data) SELECT 'setting', 'system', to_jsonb(n) FROM generate_series(1, 1200) n`,
    })
    expect((await heard).map(({ data }) => data)).toEqual(Array.from({ length: 1200 }, (_, index) => index + 1))
  })

  test('finds by polling what no bell told', async () => {
    const heard = next(await live({ pollMs: 30 }), 'setting', 1)
    await db.query(insert('nobody rang'))
    expect((await heard)[0]?.data).toBe('nobody rang')
  })

  test('is woken by the bell long before it would have polled', async () => {
    const watching = await live({ pollMs: NEVER, pollDeafMs: 20 })
    await expect.poll(() => watching.isListening).toBe(true)
    const heard = next(watching, 'transition', 1)
    const { id } = await given(db, 'pending')
    expect((await heard)[0]?.todo?.id).toBe(id)
  })

  test('goes on where it was after the database was away', async () => {
    const proxy = await startProxy(url)
    const distant = connect({ databaseUrl: proxy.url, max: 2 })
    const watching = await live({ pollMs: NEVER, retryMs: 10 }, distant)
    const heard = next(watching, 'setting', 2)
    await db.query(insert('before'))
    await expect.poll(() => watching.isListening).toBe(true)

    await proxy.close()
    await expect.poll(() => watching.isListening).toBe(false)
    await db.query(insert('meanwhile'))
    await proxy.open()
    expect((await heard).map(({ data }) => data)).toEqual(['before', 'meanwhile'])

    await watching.stop()
    await distant.close()
    await proxy.close()
  })

  test('begins although the database is away', async () => {
    const proxy = await startProxy(url)
    await proxy.close()
    const distant = connect({ databaseUrl: proxy.url, max: 2 })
    const watching = await live({ pollDeafMs: 10, retryMs: 10 }, distant)
    expect(watching.isListening).toBe(false)

    await proxy.open()
    await expect.poll(() => watching.isListening, { timeout: 5000 }).toBe(true)
    await watching.stop()
    await distant.close()
    await proxy.close()
  })
})

test('a todo claimed by many hands is told in the order it happened', async () => {
  const heard = next(await live(), 'transition', 21)
  const { id } = await given(db, 'pending')
  for (let round = 1; round <= 10; round++) {
    const { lease_epoch } = await claimById(db, id, {}, WORKER)
    await release(db, { id, leaseEpoch: lease_epoch, endpointId: WORKER.id }, WORKER)
  }
  const epochs = (await heard).map(({ lease_epoch }) => lease_epoch)
  expect(epochs).toEqual([...epochs].sort((a, b) => (a as number) - (b as number)))
})
