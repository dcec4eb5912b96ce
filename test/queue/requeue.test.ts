import { expect, test } from 'vitest'
import { claimById } from '#lib/queue/claim'
import { enqueue } from '#lib/queue/enqueue'
import { exhaust, expireParked } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { requeue } from '#lib/queue/requeue'
import { recentSettings } from '#lib/queue/settings'
import { endpoint, registered } from '../support/callers'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf, refusalOf } from '../support/refusal'
import { DAY, SWEEPS } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const PAST = '2020-01-01T00:00:00.000Z'

test.each(['failed', 'canceled', 'rejected'] as const)('a todo that is %s goes back to the queue', async (state) => {
  const { id } = await given(db, state, { failures: 1 })
  const requeued = await requeue(db, id, OPERATOR, { reason: 'try once more' })
  expect(requeued).toMatchObject({ state: 'pending', result: null, error: null, completed_at: null, wait_until: null })
  expect(requeued.available_at).toBe(requeued.updated_at)
  const [event] = await sql`SELECT verb, from_state, to_state, reason, actor FROM todo_events WHERE todo_id = ${id}
    ORDER BY id DESC`
  expect(event).toEqual({
    verb: 'requeued',
    from_state: state,
    to_state: 'pending',
    reason: 'try once more',
    actor: 'user:operator-1',
  })
  expect((await claimById(db, id, {}, WORKER)).state).toBe('claimed')
})

test('whatever ended it, a requeued todo has a fresh allowance, and its counters tell the past', async () => {
  const error = { code: 'broken', message: 'It broke' }
  const failed = await given(db, 'claimed', { failures: 2 })
  await fail(db, failed.held, WORKER, { error })
  const crashed = await given(db, 'claimed', { leaseExpirations: 2 })
  await SWEEPS.expireLease(db, crashed)
  const spent = await given(db, 'pending', { failures: 1 })
  await sql`UPDATE todos SET max_attempts = 1 WHERE id = ${spent.id}`
  await exhaust(db)
  for (const [{ id }, used] of [
    [failed, 3],
    [crashed, 3],
    [spent, 1],
  ] as const) {
    const before = await now(db, id)
    expect(before.state).toBe('failed')
    const after = await requeue(db, id, OPERATOR)
    expect(after.max_attempts).toBe(used + 3)
    expect(await exhaust(db)).toEqual([])
    const { failures, lease_expirations, attempts } = await claimById(db, id, {}, WORKER)
    expect({ failures, lease_expirations, attempts }).toEqual({
      failures: before.failures,
      lease_expirations: before.lease_expirations,
      attempts: before.attempts + 1,
    })
  }
})

test('the fresh allowance is the queue’s, else the setting’s, and never less than there was', async () => {
  const { id } = await given(db, 'failed', { todo: { queue: 'own', max_attempts: 9 } })
  expect(await requeue(db, id, OPERATOR)).toMatchObject({ failures: 1, max_attempts: 9 })
  const other = await given(db, 'failed', { todo: { queue: 'own', max_attempts: 1 } })
  await sql`UPDATE queues SET max_attempts = 5 WHERE name = 'own'`
  expect(await requeue(db, other.id, OPERATOR)).toMatchObject({ failures: 1, max_attempts: 6 })
  await sql`INSERT INTO settings (key, value) VALUES ('max_attempts', '4')`
  await recentSettings(db, true)
  const third = await given(db, 'failed', { todo: { max_attempts: 1 } })
  expect(await requeue(db, third.id, OPERATOR)).toMatchObject({ failures: 1, max_attempts: 5 })
  await sql`DELETE FROM settings`
  await recentSettings(db, true)
})

test('unanswered parked questions count towards it too', async () => {
  const parked = { todo: { max_attempts: 1 }, question: { mode: 'park' }, ago: { interrupted_at: DAY + 1 } } as const
  const { id } = await given(db, 'input-required', parked)
  await expireParked(db, { ttlSeconds: DAY })
  expect(await now(db, id)).toMatchObject({ state: 'failed', failures: 0, wait_expirations: 1 })
  expect(await requeue(db, id, OPERATOR)).toMatchObject({ max_attempts: 4 })
  expect((await claimById(db, id, {}, WORKER)).state).toBe('claimed')
})

test('while another live todo has its idempotency key, it stays where it is', async () => {
  const { id, todo } = await given(db, 'failed', { todo: { idempotency_key: 'k1' } })
  await enqueue(db, [{ queue: 'main', title: 'Its successor', idempotency_key: 'k1' }], OPERATOR)
  expect(await refusalOf(requeue(db, id, OPERATOR))).toMatchObject({
    code: 'duplicate_key',
    facts: { state: 'failed' },
  })
  expect(await now(db, id)).toEqual(todo)
})

test('what only a revoked endpoint could claim needs another assignee', async () => {
  const gone = await registered(db, 'gone')
  await registered(db, 'present')
  const { id, todo } = await given(db, 'canceled', { todo: { assignee: 'gone' } })
  await sql`UPDATE endpoints SET revoked_at = ${PAST} WHERE id = ${gone.id}`
  expect(await refusalOf(requeue(db, id, OPERATOR))).toMatchObject({
    code: 'invalid_state',
    facts: { state: 'canceled', detail: expect.stringContaining('assignee') },
  })
  expect(await codeOf(requeue(db, id, OPERATOR, { assignee: 'gone' }))).toBe('validation_failed')
  expect(await codeOf(requeue(db, id, OPERATOR, { assignee: 'never-was' }))).toBe('validation_failed')
  expect(await now(db, id)).toEqual(todo)
  expect(await requeue(db, id, OPERATOR, { assignee: 'present' })).toMatchObject({
    state: 'pending',
    assignee: 'present',
  })
})

test('an assignee in force is kept', async () => {
  await registered(db, 'keeper')
  const { id } = await given(db, 'rejected', { todo: { assignee: 'keeper' } })
  expect(await requeue(db, id, OPERATOR)).toMatchObject({ assignee: 'keeper' })
})

test('a database that fails while the assignee is looked up is no fault of the assignee', async () => {
  const { id } = await given(db, 'canceled', { todo: { assignee: 'keeper' } })
  await db.transaction(async (other) => {
    await other.query({ text: `UPDATE endpoints SET revoked_at = NULL WHERE name = 'keeper'` })
    const call = db.transaction(async (tx) => {
      await tx.query({ text: `SET LOCAL lock_timeout = '50ms'` })
      return requeue(tx, id, OPERATOR)
    })
    await expect(call).rejects.toMatchObject({ code: '55P03' })
  })
})

test('nobody requeues what they do not see', async () => {
  const { id } = await given(db, 'failed')
  expect(await codeOf(requeue(db, id, endpoint('narrow', { queues: ['other'] })))).toBe('not_found')
})
