import { expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { cancel } from '#lib/queue/cancel'
import { expireInterrupts, expireParked } from '#lib/queue/expire'
import { heartbeat } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import { park, parkForHolder } from '#lib/queue/park'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

const PARKED = { question: { mode: 'park' } } as const

test('a holder lets go of its question, which stays open with its clock, and a repeat is answered', async () => {
  const { id, held, interruptId, todo } = await given(db, 'input-required')
  const first = await park(db, held, WORKER, { page: 3 })
  expect(first).toMatchObject({ interrupt: { id: interruptId, mode: 'park', status: 'open' }, todo: { owner: null } })
  expect(await now(db, id)).toMatchObject({
    checkpoint: { page: 3 },
    interrupted_at: todo.interrupted_at,
    lease_expirations: 0,
  })
  expect(await park(db, held, WORKER)).toEqual(first)
  expect(await codeOf(heartbeat(db, held, WORKER))).toBe('lease_lost')
  const { todo: after } = await answer(db, interruptId, OPERATOR, PLAIN_REPLY)
  expect(after).toMatchObject({ state: 'pending', attempts: 1 })
  expect(await sql`SELECT outcome, disposition FROM todo_attempts WHERE todo_id = ${id}`).toEqual([
    { outcome: 'continued', disposition: 'requeued' },
  ])
})

test('parking what was answered meanwhile is invalid_state, so that the worker releases', async () => {
  const { held, interruptId } = await given(db, 'input-required')
  await answer(db, interruptId, OPERATOR, PLAIN_REPLY)
  expect(await codeOf(park(db, held, WORKER))).toBe('invalid_state')
})

test('an operator parks for a holder that may be gone; again changes nothing', async () => {
  const { id, interruptId } = await given(db, 'auth-required')
  const first = await parkForHolder(db, id, OPERATOR)
  expect(first).toMatchObject({
    interrupt: { id: interruptId, mode: 'park' },
    todo: { state: 'auth-required', owner: null },
  })
  expect(await parkForHolder(db, id, OPERATOR)).toEqual(first)
  expect(await codeOf(parkForHolder(db, (await given(db, 'claimed')).id, OPERATOR))).toBe('invalid_state')
  expect(await codeOf(parkForHolder(db, (await given(db, 'completed')).id, OPERATOR))).toBe('todo_terminal')
})

test('asking to park repeated after a lost answer is one question, and no other can be asked without a lease', async () => {
  const { held } = await given(db, 'claimed')
  const question = { kind: 'input', mode: 'park', title: 'Which?', risk: 'low', request_id: 'r1' } as const
  const first = await interrupt(db, held, WORKER, question)
  expect(await interrupt(db, held, WORKER, question)).toEqual({ ...first, created: false })
  const { request_id, ...unmarked } = question
  expect(await codeOf(interrupt(db, held, WORKER, { ...unmarked, title: 'Another?' }))).toBe('lease_lost')
})

test('a parked question waits for ever unless its own deadline is set, and then exactly that long', async () => {
  const { id } = await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: 10 * DAY } })
  expect(await expireInterrupts(db, { ttlSeconds: DAY })).toEqual([])
  expect(await expireParked(db, { ttlSeconds: 0 })).toEqual([])
  expect(await expireParked(db, { ttlSeconds: 11 * DAY })).toEqual([])
  expect(await expireParked(db, { ttlSeconds: DAY })).toHaveLength(1)
  expect(await now(db, id)).toMatchObject({
    state: 'pending',
    wait_expirations: 1,
    lease_expirations: 0,
    result: { interrupt: { title: 'Which one?' } },
  })
  const [last] =
    await sql`SELECT reason, data ? 'reclaimed_epoch' AS reclaimed FROM todo_events WHERE todo_id = ${id} ORDER BY id DESC LIMIT 1`
  expect(last).toEqual({ reason: 'wait_expired', reclaimed: false })
  expect(await sql`SELECT outcome FROM todo_attempts WHERE todo_id = ${id}`).toEqual([{ outcome: 'expired' }])
})

test('a todo whose parked questions nobody answers fails at its limit, the question kept', async () => {
  const { id } = await given(db, 'input-required', {
    ...PARKED,
    todo: { max_attempts: 1 },
    ago: { interrupted_at: DAY + 1 },
  })
  await expireParked(db, { ttlSeconds: DAY })
  expect(await now(db, id)).toMatchObject({
    state: 'failed',
    error: { code: 'interrupt_expired' },
    result: { error: 'interrupt_expired', interrupt: { title: 'Which one?' } },
  })
})

test('an answer against a park, by the holder or an operator: the todo goes on either way, and exactly once', async () => {
  for (let n = 0; n < times(40, 500); n++) {
    const { id, held, interruptId, todo } = await given(db, 'input-required')
    const parking = n % 2 ? park(db, held, WORKER) : parkForHolder(db, id, OPERATOR)
    const [answered, parked] = await Promise.all([
      codeOf(answer(db, interruptId, OPERATOR, PLAIN_REPLY)),
      codeOf(parking),
    ])
    expect(answered).toBeNull()
    const after = await now(db, id)
    expect(after).toMatchObject({ open_interrupt_id: null })
    if (after.state === 'claimed') expect([parked, after.version]).toEqual(['invalid_state', todo.version + 1])
    else expect([after.state, after.owner]).toEqual(['pending', null])
  }
})

test('a cancel or the parked sweep against an answer: one of both, never neither', async () => {
  for (let n = 0; n < times(40, 500); n++) {
    const { id, interruptId, todo } = await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: DAY + 1 } })
    const rival = n % 2 ? codeOf(cancel(db, id, OPERATOR)) : codeOf(expireParked(db, { ttlSeconds: DAY }))
    const [answered] = await Promise.all([codeOf(answer(db, interruptId, OPERATOR, PLAIN_REPLY)), rival])
    const [{ status } = { status: null }] = await sql<{
      status: string
    }>`SELECT status FROM interrupts WHERE id = ${interruptId}`
    expect(status).toBe(answered === null ? 'answered' : n % 2 ? 'canceled' : 'expired')
    expect((await now(db, id)).version).toBeGreaterThan(todo.version)
  }
})
