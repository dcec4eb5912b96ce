import { expect, test } from 'vitest'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { expireLeases } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { release } from '#lib/queue/release'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { given, now, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'

const { db, sql } = database()
keepsInvariants(db)

const error = { code: 'flaky', message: 'Not this time', data: { step: 2 } }

/** In how many seconds the todo is due, to the millisecond. */
const dueIn = async (id: string): Promise<number> => {
  const [row] = await sql<{ due: number }>`SELECT extract(epoch FROM available_at - updated_at)::float8 AS due
    FROM todos WHERE id = ${id}`
  return row?.due ?? -1
}

const lastAttempt = async (id: string) => {
  const [row] = await sql`SELECT outcome, disposition, error FROM todo_attempts WHERE todo_id = ${id} ORDER BY seq DESC`
  return row
}

const lastEvent = async (id: string) => {
  const [row] = await sql`SELECT verb, from_state, to_state, actor, attempt_seq, data FROM todo_events
    WHERE todo_id = ${id} ORDER BY id DESC`
  return row
}

test.each([
  [1, 30],
  [2, 60],
  [3, 120],
  [5, 480],
  [6, 900],
  [30, 900],
])('failure %i waits %i seconds', async (nth, seconds) => {
  const { id, held } = await given(db, 'claimed', { todo: { max_attempts: 50 }, failures: nth - 1 })
  const failed = await fail(db, held, WORKER, { error })
  expect(failed).toMatchObject({ state: 'pending', failures: nth, error, owner: null, lease_expires_at: null })
  expect(await dueIn(id)).toBe(seconds)
  expect(await lastAttempt(id)).toEqual({ outcome: 'failed', disposition: 'retry_scheduled', error })
  expect(await lastEvent(id)).toEqual({
    verb: 'retry_scheduled',
    from_state: 'claimed',
    to_state: 'pending',
    actor: 'worker:worker-1/default',
    attempt_seq: nth,
    data: { error, retry_seconds: seconds },
  })
})

test.each([0, 7, 2_592_000])('a worker may say after how long: %i seconds', async (retryAfterSeconds) => {
  const { id, held } = await given(db, 'claimed')
  await fail(db, held, WORKER, { error, retryAfterSeconds })
  expect(await dueIn(id)).toBe(retryAfterSeconds)
})

test('what is not worth another try is a dead letter at once, with the worker’s own error', async () => {
  const { id, held } = await given(db, 'claimed')
  const failed = await fail(db, held, WORKER, { error, retryable: false, retryAfterSeconds: 5 })
  expect(failed).toMatchObject({ state: 'failed', failures: 1, error })
  expect(failed.completed_at).toBe(failed.state_since)
  expect(await lastAttempt(id)).toEqual({ outcome: 'failed', disposition: 'dead_lettered', error })
  expect(await lastEvent(id)).toMatchObject({
    verb: 'failed',
    to_state: 'failed',
    data: { error, retry_seconds: null },
  })
})

test('the last failure of the allowance is a dead letter that holds the worker’s error', async () => {
  const { id, held } = await given(db, 'claimed', { failures: 2 })
  const failed = await fail(db, held, WORKER, { error })
  expect(failed).toMatchObject({
    state: 'failed',
    failures: 3,
    error: { code: 'max_attempts_exceeded', message: expect.stringContaining(error.message), data: { error } },
  })
  expect(await lastAttempt(id)).toEqual({ outcome: 'failed', disposition: 'dead_lettered', error: failed.error })
})

test('failures and lost leases share one allowance', async () => {
  const mixed = await given(db, 'claimed', { failures: 1, leaseExpirations: 1 })
  expect(await fail(db, mixed.held, WORKER, { error })).toMatchObject({ state: 'failed', lease_expirations: 1 })
  const other = await given(db, 'claimed', { failures: 2, ago: { lease_expires_at: 1 } })
  await expireLeases(db)
  expect(await now(db, other.id)).toMatchObject({
    state: 'failed',
    failures: 2,
    lease_expirations: 1,
    error: { code: 'max_attempts_exceeded' },
  })
})

test('an allowance of one ends with the first failure', async () => {
  const { held } = await given(db, 'claimed', { todo: { max_attempts: 1 } })
  expect(await fail(db, held, WORKER, { error })).toMatchObject({ state: 'failed', max_attempts: 1 })
})

test('a todo that failed and then succeeded has no error left', async () => {
  const { id, held } = await given(db, 'claimed', { failures: 1 })
  expect(await now(db, id)).toMatchObject({ error: { code: 'again' } })
  expect(await complete(db, held, WORKER, undefined)).toMatchObject({ state: 'completed', error: null, result: null })
})

test('a release costs nothing, and hands its checkpoint to the next worker', async () => {
  const { id, held } = await given(db, 'claimed')
  await release(db, held, WORKER, { checkpoint: { page: 7 }, reason: 'going home' })
  expect(await now(db, id)).toMatchObject({
    state: 'pending',
    failures: 0,
    lease_expirations: 0,
    checkpoint: { page: 7 },
  })
  const next = await claimById(db, id, {}, WORKER)
  await release(db, { ...held, leaseEpoch: next.lease_epoch }, WORKER)
  expect(next).toMatchObject({ checkpoint: { page: 7 }, attempts: 2 })
  expect(await now(db, id)).toMatchObject({ checkpoint: { page: 7 }, attempts: 2 })
  expect(await lastAttempt(id)).toMatchObject({ outcome: 'released', disposition: 'requeued' })
})

test('a release of a delayed retry leaves no delay behind', async () => {
  const { id, held } = await given(db, 'claimed')
  await fail(db, held, WORKER, { error })
  await backdate(db, id, { available_at: 0 })
  const { lease_epoch: leaseEpoch } = await claimById(db, id, {}, WORKER)
  await release(db, { ...held, leaseEpoch }, WORKER)
  expect(await dueIn(id)).toBe(0)
})
