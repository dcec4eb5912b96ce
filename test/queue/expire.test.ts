import { expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { exhaust, expireInterrupts, expireLeases } from '#lib/queue/expire'
import { interrupt } from '#lib/queue/interrupt'
import type { Moved } from '#lib/queue/moved'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const LAPSED = { ago: { lease_expires_at: 1 } }
const expire = (ttlSeconds = DAY) => expireInterrupts(db, { ttlSeconds })
const ids = (moved: Moved[]) => moved.map(({ todo }) => todo.id)

const dueIn = async (id: string) => {
  const [row] =
    await sql`SELECT extract(epoch FROM available_at - updated_at)::float8 AS due FROM todos WHERE id = ${id}`
  return row?.due
}

test('a lapsed lease goes back to the queue, later each time', async () => {
  for (const [lost, seconds] of [
    [0, 1],
    [1, 2],
    [2, 4],
    [12, 900],
  ] as const) {
    const { id } = await given(db, 'claimed', { todo: { max_attempts: 20 }, leaseExpirations: lost, ...LAPSED })
    expect(ids(await expireLeases(db))).toEqual([id])
    expect(await now(db, id)).toMatchObject({ state: 'pending', lease_expirations: lost + 1, owner: null, error: null })
    expect(await dueIn(id)).toBe(seconds)
  }
})

test('the third lost lease is a dead letter, with one failed event', async () => {
  const { id } = await given(db, 'claimed', { leaseExpirations: 2, ...LAPSED })
  await expireLeases(db)
  expect(await expireLeases(db)).toEqual([])
  const error = { code: 'max_attempts_exceeded', message: expect.any(String) }
  expect(await now(db, id)).toMatchObject({ state: 'failed', lease_expirations: 3, attempts: 3, error })
  expect(
    await sql`SELECT verb, reason, actor, data FROM todo_events
    WHERE todo_id = ${id} AND actor = 'reaper' ORDER BY id`,
  ).toEqual(
    [1, 2, 3].map((n) => ({
      verb: n < 3 ? 'requeued' : 'failed',
      reason: 'lease_expired',
      actor: 'reaper',
      data: { reclaimed_epoch: n, attempts: n, lease_expirations: n },
    })),
  )
  expect(await sql`SELECT outcome, disposition FROM todo_attempts WHERE todo_id = ${id} ORDER BY seq`).toEqual([
    { outcome: 'reaped', disposition: 'requeued' },
    { outcome: 'reaped', disposition: 'requeued' },
    { outcome: 'reaped', disposition: 'dead_lettered' },
  ])
})

test('a lease that ends just ahead is left alone, and so is a held question whose lease lapsed', async () => {
  const claimed = await given(db, 'claimed', { ago: { lease_expires_at: -5 } })
  const asking = await given(db, 'input-required', { ago: { lease_expires_at: 3600, interrupted_at: DAY - 5 } })
  expect(await expireLeases(db)).toEqual([])
  expect(await expire()).toEqual([])
  expect((await now(db, claimed.id)).state).toBe('claimed')
  expect((await now(db, asking.id)).state).toBe('input-required')
})

test.each(['input-required', 'auth-required'] as const)('a question nobody answered goes back: %s', async (state) => {
  const asked = await given(db, state, { ago: { interrupted_at: DAY + 1 } })
  expect(ids(await expire())).toEqual([asked.id])
  const after = await now(db, asked.id)
  expect(after).toMatchObject({
    state: 'pending',
    lease_expirations: 1,
    interrupted_at: null,
    open_interrupt_id: null,
    owner: null,
    result: { interrupt: { id: asked.interruptId, title: 'Which one?' } },
    error: null,
  })
  expect(await dueIn(asked.id)).toBe(1)
  expect(await sql`SELECT status, answered_at FROM interrupts WHERE id = ${asked.interruptId}`).toEqual([
    { status: 'expired', answered_at: null },
  ])
  expect(await sql`SELECT outcome, disposition FROM todo_attempts WHERE todo_id = ${asked.id}`).toEqual([
    { outcome: 'reaped', disposition: 'requeued' },
  ])
})

test('at the cap an unanswered question is a dead letter that keeps the question', async () => {
  const asked = await given(db, 'input-required', { leaseExpirations: 2, ago: { interrupted_at: DAY + 1 } })
  await expire()
  expect(await now(db, asked.id)).toMatchObject({
    state: 'failed',
    lease_expirations: 3,
    error: { code: 'interrupt_expired', message: expect.any(String) },
    result: {
      error: 'interrupt_expired',
      detail: expect.stringMatching(/^[^\n]+$/),
      interrupt: { id: asked.interruptId, kind: 'input', title: 'Which one?' },
    },
  })
})

test('only the time of asking ages a question, and more time given is respected', async () => {
  const touched = await given(db, 'input-required', { ago: { interrupted_at: DAY + 1 } })
  await sql`UPDATE todos SET updated_at = now(), state_since = now() WHERE id = ${touched.id}`
  const given5 = await given(db, 'input-required', { ago: { interrupted_at: DAY + 1, wait_until: -5 } })
  const over = await given(db, 'input-required', { ago: { interrupted_at: DAY + 1, wait_until: 1 } })
  expect(ids(await expire()).sort()).toEqual([touched.id, over.id].sort())
  expect((await now(db, given5.id)).state).toBe('input-required')
})

test('with the sweep off a question waits for ever', async () => {
  const asked = await given(db, 'input-required', { ago: { interrupted_at: 4000 * DAY } })
  expect(await expire(0)).toEqual([])
  expect(await expire(-5)).toEqual([])
  expect(ids(await expire(3650 * DAY))).toEqual([asked.id])
})

test('a pending todo without allowance is a dead letter, its counters as they were', async () => {
  const { id } = await given(db, 'pending', { failures: 1 })
  await sql`UPDATE todos SET max_attempts = 1 WHERE id = ${id}`
  expect(ids(await exhaust(db))).toEqual([id])
  expect(await now(db, id)).toMatchObject({
    state: 'failed',
    failures: 1,
    lease_expirations: 0,
    error: { code: 'max_attempts_exceeded' },
  })
})

test('nothing is swept past its deadline: that has a step of its own', async () => {
  const ago = { lease_expires_at: 1, deadline_at: 1 }
  const claimed = await given(db, 'claimed', { ago })
  await given(db, 'input-required', { ago: { interrupted_at: DAY + 1, deadline_at: 1 } })
  expect([...(await expireLeases(db)), ...(await expire())]).toEqual([])
  expect((await now(db, claimed.id)).state).toBe('claimed')
})

test('two sweeps at once reclaim each row once', async () => {
  const lapsed = await Promise.all(Array.from({ length: 20 }, () => given(db, 'claimed', LAPSED)))
  const swept = await Promise.all([expireLeases(db), expireLeases(db), expireLeases(db)])
  expect(ids(swept.flat()).sort()).toEqual(lapsed.map(({ id }) => id).sort())
})

test('a sweep skips what somebody has locked', async () => {
  const { id } = await given(db, 'claimed', LAPSED)
  await db.transaction(async (tx) => {
    await tx.query({ text: 'SELECT FROM todos WHERE id = $1 FOR UPDATE', values: [id] })
    expect(await expireLeases(db)).toEqual([])
  })
  expect(ids(await expireLeases(db))).toEqual([id])
})

test('five questions held and answered cost nothing, and the todo completes', async () => {
  const { id, held } = await given(db, 'claimed')
  for (let n = 1; n <= 5; n++) {
    const asked = await interrupt(db, held, WORKER, { kind: 'input', title: `Question ${n}`, risk: 'low' })
    await backdate(db, id, { lease_expires_at: 1 })
    const { todo } = await answer(db, asked.interrupt.id, OPERATOR, PLAIN_REPLY)
    expect(todo).toMatchObject({ state: 'claimed', result: null, interrupted_at: null, open_interrupt_id: null })
    expect(Date.parse(todo.lease_expires_at as string)).toBe(Date.parse(todo.updated_at) + 1000 * todo.lease_seconds)
    expect(await expireLeases(db)).toEqual([])
  }
  expect(await complete(db, held, WORKER, 'done')).toMatchObject({
    state: 'completed',
    max_attempts: 3,
    attempts: 1,
    lease_epoch: 1,
    failures: 0,
    lease_expirations: 0,
  })
})

test('who claims a todo after an unanswered question reads it there', async () => {
  const asked = await given(db, 'input-required', { ago: { interrupted_at: DAY + 1 } })
  await expire()
  await backdate(db, asked.id, { available_at: 0 })
  expect(await claimById(db, asked.id, {}, WORKER)).toMatchObject({
    result: { interrupt: { id: asked.interruptId } },
    interrupts: [{ id: asked.interruptId, status: 'expired' }],
    prior_attempts: [{ seq: 1, outcome: 'reaped', disposition: 'requeued' }],
  })
})
