import { expect, test } from 'vitest'
import { answer, resume } from '#lib/queue/answer'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import type { Reply } from '#lib/queue/content'
import { expireInterrupts } from '#lib/queue/expire'
import { interrupt } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { endpoint, person } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf, refusalOf } from '../support/refusal'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const FORM = {
  schema: { type: 'object' as const, properties: { size: { type: 'integer' as const } }, required: ['size'] },
}

test('an answer closes the question with who, when, through which door and what, and the work goes on', async () => {
  const asked = await given(db, 'input-required', { question: FORM })
  const reply: Reply = { action: 'accept', content: { size: 7 }, comment: 'As before' }
  const { interrupt, todo } = await answer(db, asked.interruptId, OPERATOR, reply)
  expect(interrupt).toMatchObject({
    ...reply,
    id: asked.interruptId,
    status: 'answered',
    answered_by: 'user:operator-1',
    channel: 'web',
    answered_at: todo.updated_at,
  })
  expect(todo).toMatchObject({
    state: 'claimed',
    owner: 'worker-1/default',
    lease_epoch: 1,
    result: null,
    interrupted_at: null,
    open_interrupt_id: null,
    wait_until: null,
  })
  const [event] =
    await sql`SELECT verb, actor, attempt_seq, data FROM todo_events WHERE todo_id = ${asked.id} ORDER BY id DESC`
  expect(event).toEqual({
    verb: 'answered',
    actor: 'user:operator-1',
    attempt_seq: 1,
    data: { interrupt_id: asked.interruptId, action: 'accept', channel: 'web', answered_by: 'user:operator-1' },
  })
})

test('an answer arms the lease anew, and never shortens it', async () => {
  const lapsed = await given(db, 'input-required', { leaseSeconds: 100, ago: { lease_expires_at: 3600 } })
  const { todo } = await answer(db, lapsed.interruptId, OPERATOR, PLAIN_REPLY)
  expect(Date.parse(todo.lease_expires_at ?? '')).toBe(Date.parse(todo.updated_at) + 100_000)
  const long = await given(db, 'input-required', { leaseSeconds: 100, ago: { lease_expires_at: -5000 } })
  const before = (await now(db, long.id)).lease_expires_at
  expect((await answer(db, long.interruptId, OPERATOR, PLAIN_REPLY)).todo.lease_expires_at).toBe(before)
})

test('who declines lets the work go on too, and the worker is told', async () => {
  const asked = await given(db, 'auth-required')
  const { interrupt, todo } = await answer(db, asked.interruptId, OPERATOR, { action: 'decline', comment: 'No' })
  expect(interrupt).toMatchObject({ status: 'answered', action: 'decline', content: null, comment: 'No' })
  expect(todo.state).toBe('claimed')
})

test('content that breaks the form is refused with a pointer, and nothing is stored', async () => {
  const asked = await given(db, 'input-required', { question: FORM })
  const refusal = await refusalOf(answer(db, asked.interruptId, OPERATOR, { action: 'accept', content: { size: 'L' } }))
  expect(refusal).toMatchObject({
    code: 'validation_failed',
    facts: { errors: [{ pointer: '/content/size', message: 'must be integer' }] },
  })
  const resumed = resume(db, asked.held, WORKER, { interruptId: asked.interruptId, action: 'accept', content: {} })
  expect(await codeOf(resumed)).toBe('validation_failed')
  expect(await now(db, asked.id)).toEqual(asked.todo)
  expect(await sql`SELECT status, content FROM interrupts WHERE id = ${asked.interruptId}`).toEqual([
    { status: 'open', content: null },
  ])
})

test('the same person sending the same again gets the stored answer; anything else hears who answered', async () => {
  const asked = await given(db, 'input-required', { question: FORM })
  const reply: Reply = { action: 'accept', content: { size: 7 }, comment: 'ok' }
  const { interrupt } = await answer(db, asked.interruptId, OPERATOR, reply)
  expect((await answer(db, asked.interruptId, OPERATOR, { ...reply, content: { size: 7 } })).interrupt).toEqual(
    interrupt,
  )
  const others: [typeof OPERATOR, Reply][] = [
    [OPERATOR, { ...reply, content: { size: 8 } }],
    [OPERATOR, { ...reply, comment: 'other' }],
    [OPERATOR, { action: 'decline' }],
    [person('somebody-else'), reply],
    // Not looked at any more: the question is closed.
    [person('somebody-else'), { action: 'accept', content: { size: 'L' } }],
  ]
  for (const [who, what] of others) {
    expect(await refusalOf(answer(db, asked.interruptId, who, what))).toMatchObject({
      code: 'already_answered',
      facts: { state: 'claimed', answered_by: 'user:operator-1', answered_at: interrupt.answered_at },
    })
  }
})

test('an answer goes by its question alone, whatever has become of the todo', async () => {
  const asked = await given(db, 'input-required')
  await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
  await cancel(db, asked.id, OPERATOR)
  expect((await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)).todo.state).toBe('canceled')
  expect(await codeOf(answer(db, asked.interruptId, person('late'), PLAIN_REPLY))).toBe('already_answered')
  expect(await codeOf(answer(db, '01900000-0000-7000-8000-000000000000', OPERATOR, PLAIN_REPLY))).toBe('not_found')
})

test('an answer to a question that is closed is stored nowhere', async () => {
  const canceled = await given(db, 'input-required')
  await cancel(db, canceled.id, OPERATOR)
  const expired = await given(db, 'input-required', { ago: { interrupted_at: DAY + 1 } })
  await expireInterrupts(db, { ttlSeconds: DAY })
  for (const { interruptId, id } of [canceled, expired]) {
    const before = await now(db, id)
    expect(await refusalOf(answer(db, interruptId, OPERATOR, PLAIN_REPLY))).toMatchObject({
      code: 'interrupt_closed',
      facts: { state: before.state },
    })
    expect(await now(db, id)).toEqual(before)
    expect(await sql`SELECT answered_at, content FROM interrupts WHERE id = ${interruptId}`).toEqual([
      { answered_at: null, content: null },
    ])
  }
})

test('an answer counts until a sweep has taken the question back, however late it is', async () => {
  const asked = await given(db, 'input-required', { ago: { interrupted_at: 3 * DAY } })
  expect((await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)).todo.state).toBe('claimed')
  expect(await expireInterrupts(db, { ttlSeconds: DAY })).toEqual([])
})

test('nobody answers what they may not see, nor approves what they asked for', async () => {
  const asked = await given(db, 'input-required', { question: { kind: 'approval' } })
  const narrow = endpoint('narrow', { queues: ['other'] })
  expect(await codeOf(answer(db, asked.interruptId, narrow, PLAIN_REPLY))).toBe('not_found')
  expect(await codeOf(answer(db, asked.interruptId, WORKER, { action: 'accept' }))).toBe('forbidden')
  const resumed = resume(db, asked.held, WORKER, { interruptId: asked.interruptId, action: 'accept' })
  expect(await codeOf(resumed)).toBe('forbidden')
  expect((await answer(db, asked.interruptId, endpoint('other'), { action: 'accept' })).interrupt).toMatchObject({
    answered_by: 'client:other',
    channel: 'http',
  })
})

test('an answer to the question before never resumes the one that is open', async () => {
  const { id, held } = await given(db, 'claimed')
  const ask = (title: string) => interrupt(db, held, WORKER, { kind: 'input', title, risk: 'low' })
  const first = await ask('First?')
  await resume(db, held, WORKER, { interruptId: first.interrupt.id, ...PLAIN_REPLY })
  const second = await ask('Second?')
  expect(await codeOf(answer(db, first.interrupt.id, OPERATOR, PLAIN_REPLY))).toBe('already_answered')
  const again = await resume(db, held, WORKER, { interruptId: first.interrupt.id, action: 'decline' })
  expect(again.interrupt).toMatchObject({ id: first.interrupt.id, status: 'resolved', action: 'accept' })
  expect(await now(db, id)).toMatchObject({ state: 'input-required', open_interrupt_id: second.interrupt.id })
})

test('a question of another todo is no question of this one', async () => {
  const mine = await given(db, 'input-required')
  const other = await given(db, 'input-required')
  const resumed = resume(db, mine.held, WORKER, { interruptId: other.interruptId, ...PLAIN_REPLY })
  expect(await codeOf(resumed)).toBe('not_found')
  expect(await now(db, other.id)).toEqual(other.todo)
})

test('a question shows in the row while it is open, and nothing of it afterwards', async () => {
  const asked = await given(db, 'input-required', { question: { ...FORM, message: 'In **cm**' } })
  const { id, kind, title, message, schema } =
    (await sql`SELECT * FROM interrupts WHERE id = ${asked.interruptId}`)[0] ?? {}
  expect(asked.todo.result).toEqual({ interrupt: { id, kind, title, message, schema } })
  await answer(db, asked.interruptId, OPERATOR, { action: 'decline' })
  await release(db, asked.held, WORKER)
  await backdate(db, asked.id, { available_at: 0 })
  expect(await claimById(db, asked.id, {}, WORKER)).toMatchObject({ result: null, interrupts: [{ action: 'decline' }] })
})
