import { beforeEach, describe, expect, test } from 'vitest'
import { connect } from '#lib/db/connect'
import { exposition } from '#lib/ops/metrics'
import { answer } from '#lib/queue/answer'
import { claim } from '#lib/queue/claim'
import { enqueue } from '#lib/queue/enqueue'
import { heartbeat } from '#lib/queue/heartbeat'
import { createSkips } from '#worker/skips'
import { tick } from '#worker/tick'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { recordedLog } from '../support/recorded-log'

const { db, sql, session, url } = database()

const DAY = 86_400
const { log } = recordedLog()
beforeEach(() => sql`TRUNCATE todos, todo_attempts, todo_events, settings CASCADE`)

/** One tick of a reaper, on its own connections where it is another process. */
const ticked = (on = db) =>
  tick({ database: on, skips: createSkips(), ranAt: new Map(), log, signal: new AbortController().signal })

const events = (id: string) =>
  sql<{ verb: string; reason: string; actor: string; data: unknown }>`
    SELECT verb, reason, actor, data FROM todo_events WHERE todo_id = ${id} ORDER BY id`

const secondsAhead = async (id: string) => {
  const [row] = await sql<{ ahead: number }>`
    SELECT extract(epoch FROM available_at - updated_at)::float8 AS ahead FROM todos WHERE id = ${id}`
  return row?.ahead
}

async function claimAgain({ id }: Pick<Given, 'id'>, queue = 'main'): Promise<void> {
  await backdate(db, id, { available_at: 0 })
  const [todo] = await claim(db, { queues: [queue] }, WORKER)
  expect(todo?.id).toBe(id)
}

const setTtl = (value: string) => sql`INSERT INTO settings (key, value) VALUES ('interrupt_lease_ttl_seconds', ${value})
  ON CONFLICT (key) DO UPDATE SET value = excluded.value`

describe('a lapsed lease', () => {
  test('brings the todo back after one second, then two; the third time it ends, with one failed event', async () => {
    const queue = 'thrice'
    const lapsed = await given(db, 'claimed', { todo: { queue }, ago: { lease_expires_at: 1 } })
    expect((await ticked()).expiries).toBe(1)
    expect(await now(db, lapsed.id)).toMatchObject({ state: 'pending', lease_expirations: 1, owner: null })
    expect(await secondsAhead(lapsed.id)).toBe(1)

    await claimAgain(lapsed, queue)
    await backdate(db, lapsed.id, { lease_expires_at: 1 })
    await ticked()
    expect(await secondsAhead(lapsed.id)).toBe(2)

    await claimAgain(lapsed, queue)
    await backdate(db, lapsed.id, { lease_expires_at: 1 })
    await ticked()
    expect(await now(db, lapsed.id)).toMatchObject({
      state: 'failed',
      attempts: 3,
      lease_expirations: 3,
      error: { code: 'max_attempts_exceeded' },
    })
    const told = (await events(lapsed.id)).filter(({ actor }) => actor === 'reaper')
    expect(told.map(({ verb, reason }) => [verb, reason])).toEqual([
      ['requeued', 'lease_expired'],
      ['requeued', 'lease_expired'],
      ['failed', 'lease_expired'],
    ])
    expect(told.map(({ data }) => data)).toEqual(
      [1, 2, 3].map((n) => ({ reclaimed_epoch: n, attempts: n, lease_expirations: n })),
    )
  })

  test('is left alone once its holder has beaten past it, though a beat leaves no event', async () => {
    const { id, held } = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    await heartbeat(db, held, WORKER)
    expect((await ticked()).expiries).toBe(0)
    expect((await now(db, id)).state).toBe('claimed')
  })

  test('is taken back once by two reapers at once', async () => {
    const other = connect({ databaseUrl: url, max: 2 })
    const lapsed = []
    for (let n = 0; n < 20; n++) lapsed.push(await given(db, 'claimed', { ago: { lease_expires_at: 1 } }))
    const both = await Promise.all([ticked(), ticked(other)])
    expect(both[0].expiries + both[1].expiries).toBe(20)
    for (const { id } of lapsed) {
      expect(await now(db, id)).toMatchObject({ state: 'pending', lease_expirations: 1 })
      expect((await events(id)).filter(({ verb }) => verb === 'requeued')).toHaveLength(1)
    }
    await other.close()
  })

  test('whose row is locked waits for another tick and keeps no other row waiting', async () => {
    const locked = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    const free = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    const holder = await session()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM todos WHERE id = $1 FOR UPDATE', [locked.id])
    expect((await ticked()).expiries).toBe(1)
    expect((await now(db, free.id)).state).toBe('pending')
    await holder.query('ROLLBACK')
    expect((await ticked()).expiries).toBe(1)
  })
})

describe('a held question', () => {
  test('older than the deadline goes back to the queue, and stays in the result for the next claimant', async () => {
    const queue = 'asked'
    const asked = await given(db, 'input-required', { todo: { queue }, ago: { interrupted_at: DAY + 1 } })
    expect((await ticked()).expiries).toBe(1)
    const todo = await now(db, asked.id)
    expect(todo).toMatchObject({
      state: 'pending',
      lease_expirations: 1,
      interrupted_at: null,
      open_interrupt_id: null,
      owner: null,
      result: { interrupt: { id: asked.interruptId, kind: 'input', title: 'Which one?' } },
    })
    expect((await events(asked.id)).at(-1)).toMatchObject({
      verb: 'requeued',
      reason: 'interrupt_expired',
      actor: 'reaper',
    })
    const late = answer(db, asked.interruptId, OPERATOR, { action: 'accept', content: { answer: 'late' } })
    await expect(late).rejects.toMatchObject({ code: 'interrupt_closed' })
  })

  test('younger than the deadline is not touched, however long ago its lease would have ended', async () => {
    const { id } = await given(db, 'auth-required', { ago: { interrupted_at: DAY - 60, lease_expires_at: DAY } })
    expect((await ticked()).expiries).toBe(0)
    expect((await now(db, id)).state).toBe('auth-required')
  })

  test('that was given more time waits for that too', async () => {
    const { id } = await given(db, 'input-required', { ago: { interrupted_at: 2 * DAY, wait_until: -60 } })
    expect((await ticked()).expiries).toBe(0)
    await backdate(db, id, { wait_until: 1 })
    expect((await ticked()).expiries).toBe(1)
  })

  test('waits for ever while the setting is zero, as it stands at each tick', async () => {
    const { id } = await given(db, 'input-required', { ago: { interrupted_at: 400 * DAY } })
    await setTtl('0')
    expect((await ticked()).expiries).toBe(0)
    await setTtl('-5')
    expect((await ticked()).expiries).toBe(0)
    expect((await now(db, id)).state).toBe('input-required')
    await setTtl('60')
    expect((await ticked()).expiries).toBe(1)
  })

  test('ends a todo that has spent its attempts, with the question kept', async () => {
    const asked = await given(db, 'input-required', {
      leaseExpirations: 1,
      failures: 1,
      ago: { interrupted_at: DAY + 1 },
    })
    await ticked()
    expect(await now(db, asked.id)).toMatchObject({
      state: 'failed',
      lease_expirations: 2,
      failures: 1,
      error: { code: 'interrupt_expired' },
      result: {
        error: 'interrupt_expired',
        detail: expect.stringMatching(/^[^\n]+$/),
        interrupt: { id: asked.interruptId, title: 'Which one?' },
      },
    })
  })
})

test('a pending todo without an attempt left is failed, its counters unchanged', async () => {
  const { id } = await given(db, 'pending', { failures: 2 })
  await sql`UPDATE todos SET max_attempts = 2 WHERE id = ${id}`
  const { exhausted, expiries } = await ticked()
  expect([exhausted, expiries]).toEqual([1, 0])
  expect(await now(db, id)).toMatchObject({
    state: 'failed',
    failures: 2,
    lease_expirations: 0,
    error: { code: 'max_attempts_exceeded' },
  })
})

test('both reaper counters move once for each execution taken back', async () => {
  const queue = 'counted'
  const value = async (name: string) => {
    const line = (await exposition()).split('\n').find((one) => one.startsWith(`${name}{queue="${queue}"}`))
    return Number(line?.split(' ')[1] ?? 0)
  }
  await given(db, 'claimed', { todo: { queue }, ago: { lease_expires_at: 1 } })
  await given(db, 'input-required', { todo: { queue }, ago: { interrupted_at: DAY + 1 } })
  await given(db, 'auth-required', { todo: { queue }, ago: { interrupted_at: DAY + 1 } })
  await ticked()
  await ticked()
  expect(await value('switchboard_todo_leases_expired_total')).toBe(3)
  expect(await value('switchboard_interrupt_leases_reclaimed_total')).toBe(2)
})

test('more rows than a batch holds are drained by one tick', async () => {
  const queue = 'drained'
  const titles = Array.from({ length: 1000 }, (_, n) => ({ queue, title: `Todo ${n}` }))
  await enqueue(db, titles, OPERATOR)
  for (let round = 0; round < 10; round++) await claim(db, { queues: [queue], limit: 100 }, WORKER)
  await sql`UPDATE todos SET lease_expires_at = now() - interval '1 s' WHERE queue = ${queue}`
  expect((await ticked()).expiries).toBe(1000)
})
