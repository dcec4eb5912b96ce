import { expect, test } from 'vitest'
import { connect, type Database } from '#lib/db/connect'
import { claimById } from '#lib/queue/claim'
import { complete, completeMany } from '#lib/queue/complete'
import { expireLeases } from '#lib/queue/expire'
import { heartbeat, heartbeatMany } from '#lib/queue/heartbeat'
import { release } from '#lib/queue/release'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { given, now, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'

const { db, sql, url } = database()
keepsInvariants(db)

const secondsLeft = async (id: string): Promise<number> => {
  const [row] = await sql<{ left: number }>`SELECT round(extract(epoch FROM lease_expires_at - now()))::int AS left
    FROM todos WHERE id = ${id}`
  return row?.left ?? 0
}

test('a beat keeps the lease for its seconds from now, and says until when', async () => {
  const { id, held } = await given(db, 'claimed', { leaseSeconds: 100, ago: { lease_expires_at: -5 } })
  const { lease_expires_at, state } = await heartbeat(db, held, WORKER)
  expect(state).toBe('claimed')
  expect(await now(db, id)).toMatchObject({ lease_expires_at, lease_seconds: 100 })
  expect(await secondsLeft(id)).toBe(100)
})

test('a beat never shortens a lease, and its seconds are the todo’s from then on', async () => {
  const { id, held } = await given(db, 'claimed', { leaseSeconds: 1000 })
  await heartbeat(db, { ...held, leaseSeconds: 10 }, WORKER)
  expect(await secondsLeft(id)).toBe(1000)
  expect(await now(db, id)).toMatchObject({ lease_seconds: 10 })
  await backdate(db, id, { lease_expires_at: 1 })
  await heartbeat(db, held, WORKER)
  expect(await secondsLeft(id)).toBe(10)
})

test('a worker that beats past its first deadline is not reaped', async () => {
  const { id, held } = await given(db, 'claimed', { leaseSeconds: 10 })
  for (let n = 0; n < 3; n++) {
    await backdate(db, id, { lease_expires_at: 1 })
    await heartbeat(db, held, WORKER)
    expect(await expireLeases(db)).toEqual([])
  }
  expect(await now(db, id)).toMatchObject({ state: 'claimed', lease_expirations: 0, attempts: 1 })
})

test('a beat keeps progress and checkpoint, leaves no event and no new version', async () => {
  const { id, held, todo } = await given(db, 'claimed')
  await heartbeat(db, { ...held, progress: { ratio: 0.5 }, checkpoint: { page: 3 } }, WORKER)
  await heartbeat(db, held, WORKER)
  expect(await now(db, id)).toMatchObject({ progress: { ratio: 0.5 }, checkpoint: { page: 3 }, version: todo.version })
  expect(await sql`SELECT verb FROM todo_events WHERE todo_id = ${id} ORDER BY id`).toEqual([
    { verb: 'created' },
    { verb: 'claimed' },
  ])
})

test('a beat marks the attempt as seen', async () => {
  const { id, held } = await given(db, 'claimed')
  await sql`UPDATE todo_attempts SET last_heartbeat_at = now() - interval '1 hour' WHERE todo_id = ${id}`
  await heartbeat(db, held, WORKER)
  const [attempt] = await sql`SELECT last_heartbeat_at > now() - interval '1 minute' AS seen FROM todo_attempts
    WHERE todo_id = ${id}`
  expect(attempt).toEqual({ seen: true })
})

test('beats are heap-only: they touch no index', async () => {
  const beats = times(20, 200)
  const { held } = await given(db, 'claimed')
  const one = connect({ databaseUrl: url, max: 1 })
  const before = await updates(one)
  for (let n = 0; n < beats; n++) await heartbeat(one, { ...held, progress: { ratio: n / beats } }, WORKER)
  const after = await updates(one)
  await one.close()
  expect(after.map(({ all }, at) => all - (before[at]?.all ?? 0))).toEqual([beats, beats])
  for (const [at, { hot }] of after.entries()) {
    expect(hot - (before[at]?.hot ?? 0)).toBeGreaterThanOrEqual(0.9 * beats)
  }
})

/** How many updates of rows there have been, and how many of them were heap-only, once this connection's are counted. */
async function updates(one: Database): Promise<{ all: number; hot: number }[]> {
  await one.query({ text: 'SELECT pg_stat_force_next_flush()' })
  await one.query({ text: 'SELECT pg_stat_clear_snapshot()' })
  return one.query({
    text: `SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables
      WHERE relname IN ('todos', 'todo_attempts') ORDER BY relname`,
  })
}

test('beats of many in one call: a lost lease harms none of the others', async () => {
  const mine = await given(db, 'claimed', { leaseSeconds: 50, ago: { lease_expires_at: 1 } })
  const lost = await given(db, 'claimed')
  await release(db, lost.held, WORKER)
  const ended = await given(db, 'completed')
  const asking = await given(db, 'input-required')
  const absent = { ...mine.held, id: '01900000-0000-7000-8000-000000000000' }
  const items = [lost.held, mine.held, ended.held, asking.held, absent, mine.held]
  expect(await heartbeatMany(db, items, WORKER)).toEqual([
    { id: lost.id, ok: false, code: 'lease_lost' },
    { id: mine.id, ok: true },
    { id: ended.id, ok: false, code: 'todo_terminal' },
    { id: asking.id, ok: false, code: 'invalid_state' },
    { id: absent.id, ok: false, code: 'not_found' },
    { id: mine.id, ok: true },
  ])
  expect(await secondsLeft(mine.id)).toBe(50)
})

test('a stale epoch of a todo in a batch doesn’t spoil the one in force', async () => {
  const { id, held } = await given(db, 'claimed')
  await release(db, held, WORKER)
  const { lease_epoch: leaseEpoch } = await claimById(db, id, {}, WORKER)
  const both = [held, { ...held, leaseEpoch }]
  const answered = [
    { id, ok: false, code: 'lease_lost' },
    { id, ok: true },
  ]
  expect(await heartbeatMany(db, both, WORKER)).toEqual(answered)
  expect(await completeMany(db, both, WORKER)).toEqual([{ id, ok: false, code: 'todo_terminal' }, answered[1]])
})

test('many are completed in one call, each with its own result, and a repeat is answered alike', async () => {
  const one = await given(db, 'claimed')
  const two = await given(db, 'claimed')
  const lost = await given(db, 'claimed')
  await complete(db, lost.held, WORKER, 'before')
  const items = [
    { ...one.held, result: 1 },
    { ...lost.held, result: 'again' },
    { ...two.held, result: { two: 2 } },
    { ...one.held, result: 'not looked at' },
  ]
  const answered = [one.id, lost.id, two.id, one.id].map((id) => ({ id, ok: true }))
  expect(await completeMany(db, items, WORKER)).toEqual(answered)
  expect(await completeMany(db, items, WORKER)).toEqual(answered)
  const results = await Promise.all([one, lost, two].map(async ({ id }) => (await now(db, id)).result))
  expect(results).toEqual([1, 'before', { two: 2 }])
})
