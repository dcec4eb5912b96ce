import { expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { claimById } from '#lib/queue/claim'
import { expireInterrupts, expireParked } from '#lib/queue/expire'
import { interrupt } from '#lib/queue/interrupt'
import { park } from '#lib/queue/park'
import { requeue } from '#lib/queue/requeue'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const PARKED = { question: { mode: 'park' } } as const
const expire = async (ttlSeconds = DAY) => (await expireParked(db, { ttlSeconds })).map(({ todo }) => todo.id)

test.each(['input-required', 'auth-required'] as const)(
  'a parked question nobody answered goes back at once, on an account of its own: %s',
  async (state) => {
    const asked = await given(db, state, { ...PARKED, ago: { interrupted_at: DAY + 1 } })
    expect(await expire()).toEqual([asked.id])
    const after = await now(db, asked.id)
    expect(after).toMatchObject({
      state: 'pending',
      wait_expirations: 1,
      lease_expirations: 0,
      failures: 0,
      interrupted_at: null,
      open_interrupt_id: null,
      result: { interrupt: { id: asked.interruptId } },
      error: null,
    })
    expect(after.available_at).toBe(after.updated_at)
    expect(await sql`SELECT outcome, disposition FROM todo_attempts WHERE todo_id = ${asked.id}`).toEqual([
      { outcome: 'expired', disposition: 'requeued' },
    ])
    const [event] =
      await sql`SELECT verb, reason, actor, data FROM todo_events WHERE todo_id = ${asked.id} ORDER BY id DESC LIMIT 1`
    expect(event).toEqual({
      verb: 'requeued',
      reason: 'wait_expired',
      actor: 'reaper',
      data: { attempts: 1, wait_expirations: 1 },
    })
    expect(await codeOf(answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY))).toBe('interrupt_closed')
    expect(await claimById(db, asked.id, {}, WORKER)).toMatchObject({
      interrupts: [{ id: asked.interruptId, status: 'expired' }],
      prior_attempts: [{ outcome: 'expired' }],
    })
  },
)

test('zero or less is off, whatever the age; held questions are none of its business', async () => {
  const asked = await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: 4000 * DAY } })
  const held = await given(db, 'input-required', { ago: { interrupted_at: 3000 * DAY } })
  expect(await expire(0)).toEqual([])
  expect(await expire(-1)).toEqual([])
  expect(await expire(3650 * DAY)).toEqual([asked.id])
  expect(await expire(60)).toEqual([])
  expect((await now(db, held.id)).state).toBe('input-required')
  await expireInterrupts(db, { ttlSeconds: DAY })
})

test('a question exactly as old as the deadline is not past it', async () => {
  const { id } = await given(db, 'input-required', PARKED)
  await db.transaction(async (tx) => {
    // Within one transaction the clock stands still.
    await backdate(tx, id, { interrupted_at: 60 })
    expect(await expireParked(tx, { ttlSeconds: 60 })).toEqual([])
    await tx.query({
      text: `UPDATE todos SET interrupted_at = interrupted_at - interval '1 microsecond' WHERE id = $1`,
      values: [id],
    })
    expect(await expireParked(tx, { ttlSeconds: 60 })).toHaveLength(1)
  })
})

test('more time given is respected, and only the time of asking ages a question', async () => {
  const more = await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: DAY + 1, wait_until: -5 } })
  const over = await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: DAY + 1, wait_until: 1 } })
  await sql`UPDATE todos SET updated_at = now(), state_since = now() WHERE id = ${over.id}`
  expect(await expire()).toEqual([over.id])
  expect((await now(db, more.id)).state).toBe('input-required')
})

test('a question parked by its holder goes on ageing from when it was asked', async () => {
  const asked = await given(db, 'input-required', { ago: { interrupted_at: DAY + 1 } })
  await park(db, asked.held, WORKER)
  expect((await expireInterrupts(db, { ttlSeconds: DAY })).filter(({ todo }) => todo.id === asked.id)).toEqual([])
  expect(await expire()).toEqual([asked.id])
})

test('the third time nobody answers is a dead letter that keeps the question; losses and failures don’t count', async () => {
  const { id } = await given(db, 'pending', { failures: 1, leaseExpirations: 1 })
  let question = ''
  for (const n of [1, 2, 3]) {
    const { lease_epoch: leaseEpoch } = await claimById(db, id, {}, WORKER)
    const held = { id, leaseEpoch, endpointId: WORKER.id }
    const ask = { kind: 'input', mode: 'park', title: `Question ${n}?`, risk: 'low' } as const
    question = (await interrupt(db, held, WORKER, ask)).interrupt.id
    await backdate(db, id, { interrupted_at: DAY + 1 })
    expect(await expire()).toEqual([id])
    expect(await now(db, id)).toMatchObject({ state: n < 3 ? 'pending' : 'failed', wait_expirations: n })
  }
  expect(await now(db, id)).toMatchObject({
    failures: 1,
    lease_expirations: 1,
    attempts: 5,
    error: { code: 'interrupt_expired', message: expect.any(String) },
    result: {
      error: 'interrupt_expired',
      detail: expect.stringMatching(/^[^\n]+$/),
      interrupt: { id: question, title: 'Question 3?' },
    },
  })
  expect(
    await sql`SELECT verb, reason FROM todo_events WHERE todo_id = ${id} AND reason = 'wait_expired' ORDER BY id`,
  ).toEqual(['requeued', 'requeued', 'failed'].map((verb) => ({ verb, reason: 'wait_expired' })))
  expect(
    await sql`SELECT outcome, disposition FROM todo_attempts WHERE todo_id = ${id} ORDER BY seq DESC LIMIT 1`,
  ).toEqual([{ outcome: 'expired', disposition: 'dead_lettered' }])
  expect(await requeue(db, id, OPERATOR)).toMatchObject({ state: 'pending', wait_expirations: 3, max_attempts: 6 })
  expect(await claimById(db, id, {}, WORKER)).toMatchObject({ attempts: 6 })
})

test('nothing is swept past its deadline: that has a step of its own', async () => {
  await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: DAY + 1, deadline_at: 1 } })
  expect(await expire()).toEqual([])
})

test('two sweeps at once expire each once, and skip what somebody has locked', async () => {
  const asked = await Promise.all(
    Array.from({ length: 20 }, () => given(db, 'input-required', { ...PARKED, ago: { interrupted_at: DAY + 1 } })),
  )
  const [locked, ...rest] = asked.map(({ id }) => id)
  await db.transaction(async (tx) => {
    await tx.query({ text: 'SELECT FROM todos WHERE id = $1 FOR UPDATE', values: [locked] })
    expect((await Promise.all([expire(), expire(), expire()])).flat().sort()).toEqual(rest.sort())
  })
  expect(await expire()).toEqual([locked])
})
