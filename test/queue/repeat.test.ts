import { describe, expect, test } from 'vitest'
import type { Db } from '#lib/db/connect'
import { answer, resume } from '#lib/queue/answer'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { expireInterrupts, expireLeases } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { interrupt, type Question } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { endpoint } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const BROKEN = { error: { code: 'broken', message: 'It broke' }, retryAfterSeconds: 0 }

const ENDINGS: [string, (db: Db, given: Given) => Promise<unknown>][] = [
  ['complete', (db, { held }) => complete(db, held, WORKER, { done: true })],
  ['fail, to be tried again', (db, { held }) => fail(db, held, WORKER, BROKEN)],
  ['fail, for good', (db, { held }) => fail(db, held, WORKER, { ...BROKEN, retryable: false })],
  ['release', (db, { held }) => release(db, held, WORKER, { checkpoint: { page: 7 } })],
]

const events = async (id: string) => (await sql`SELECT id FROM todo_events WHERE todo_id = ${id}`).length

describe.each(ENDINGS)('%s', (_, end) => {
  test('repeated gets the stored row, and is counted once', async () => {
    const claimed = await given(db, 'claimed')
    const first = await end(db, claimed)
    const told = await events(claimed.id)
    expect(await end(db, claimed)).toEqual(first)
    expect(await Promise.all([end(db, claimed), end(db, claimed)])).toEqual([first, first])
    expect(await now(db, claimed.id)).toEqual(first)
    expect(await events(claimed.id)).toBe(told)
  })

  test('sent twice at once is done once', async () => {
    const claimed = await given(db, 'claimed')
    const [one, two] = await Promise.all([end(db, claimed), end(db, claimed)])
    expect(one).toEqual(two)
    expect(await now(db, claimed.id)).toMatchObject({ version: claimed.todo.version + 1 })
  })
})

test.each(ENDINGS.slice(1).filter(([name]) => name !== 'fail, for good'))(
  '%s repeated after somebody else has claimed the todo is answered, and harms nobody',
  async (_, end) => {
    const claimed = await given(db, 'claimed')
    await end(db, claimed)
    const other = await claimById(db, claimed.id, {}, endpoint('worker-2'))
    expect(await end(db, claimed)).toMatchObject({ state: 'claimed', owner: 'worker-2/default' })
    expect(await now(db, claimed.id)).toMatchObject({ version: other.version })
  },
)

const QUESTION: Question = { kind: 'input', title: 'Which?', message: 'Of these', risk: 'low', ui: { order: [2, 1] } }

test('a question repeated under its request id is the one that was asked, open or not', async () => {
  const { id, held } = await given(db, 'claimed')
  const ask = (question: Partial<Question> = {}) =>
    interrupt(db, held, WORKER, { ...QUESTION, request_id: 'r1', ...question })
  const first = await ask()
  expect(first).toMatchObject({ created: true, interrupt: { status: 'open', request_id: 'r1' } })
  expect(await ask({ title: 'Not looked at' })).toEqual({ ...first, created: false })
  await answer(db, first.interrupt.id, OPERATOR, PLAIN_REPLY)
  expect(await ask()).toMatchObject({ created: false, interrupt: { id: first.interrupt.id, status: 'answered' } })
  const second = await interrupt(db, held, WORKER, { ...QUESTION, request_id: 'r2' })
  expect(await ask()).toMatchObject({ created: false, interrupt: { id: first.interrupt.id } })
  expect(await now(db, id)).toMatchObject({ open_interrupt_id: second.interrupt.id })
})

test('a question repeated under its request id is answered even after the lease was lost', async () => {
  const { id, held } = await given(db, 'claimed')
  const asked = await interrupt(db, held, WORKER, { ...QUESTION, request_id: 'r1' })
  await answer(db, asked.interrupt.id, OPERATOR, PLAIN_REPLY)
  await backdate(db, id, { lease_expires_at: 1 })
  await expireLeases(db)
  const repeated = await interrupt(db, held, WORKER, { ...QUESTION, request_id: 'r1' })
  expect(repeated).toMatchObject({ created: false, interrupt: { id: asked.interrupt.id }, todo: { state: 'pending' } })
  expect(await codeOf(interrupt(db, held, WORKER, { ...QUESTION, request_id: 'r2' }))).toBe('lease_lost')
})

test('an equal question is the open one; another is refused; once answered, an equal one asks anew', async () => {
  const { held } = await given(db, 'claimed')
  const ask = (question: Partial<Question> = {}) => interrupt(db, held, WORKER, { ...QUESTION, ...question })
  const first = await ask()
  expect(await ask({ ui: { order: [2, 1] } })).toEqual({ ...first, created: false })
  for (const other of [{ title: 'What?' }, { ui: { order: [1, 2] } }, { risk: 'high' as const }, { for: 'somebody' }]) {
    expect(await codeOf(ask(other))).toBe('interrupt_open')
  }
  await answer(db, first.interrupt.id, OPERATOR, PLAIN_REPLY)
  const second = await ask()
  expect(second.created).toBe(true)
  expect(second.interrupt.id).not.toBe(first.interrupt.id)
})

test.each([undefined, 'r1'])('equal questions sent at once are one question (request id %s)', async (requestId) => {
  const { id, held } = await given(db, 'claimed')
  const asks = Array.from({ length: 6 }, () => interrupt(db, held, WORKER, { ...QUESTION, request_id: requestId }))
  const asked = await Promise.all(asks)
  expect(new Set(asked.map(({ interrupt }) => interrupt.id)).size).toBe(1)
  expect(asked.filter(({ created }) => created)).toHaveLength(1)
  expect(await sql`SELECT count(*) AS asked FROM todo_events WHERE todo_id = ${id} AND verb = 'interrupted'`).toEqual([
    { asked: 1 },
  ])
})

test('the same request id under the next lease is another question', async () => {
  const asked = await given(db, 'input-required', { question: { request_id: 'r1' } })
  await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
  await release(db, asked.held, WORKER)
  const { lease_epoch } = await claimById(db, asked.id, {}, WORKER)
  const again = await interrupt(db, { ...asked.held, leaseEpoch: lease_epoch }, WORKER, {
    ...QUESTION,
    request_id: 'r1',
  })
  expect(again.created).toBe(true)
})

describe('resume', () => {
  test('repeated gets the stored answer, even once the todo has moved on', async () => {
    const asked = await given(db, 'input-required')
    const go = () => resume(db, asked.held, WORKER, { interruptId: asked.interruptId, ...PLAIN_REPLY })
    const first = await go()
    expect(first).toMatchObject({
      interrupt: { status: 'resolved', action: 'accept', content: { answer: 'the first' } },
    })
    expect(await go()).toEqual(first)
    const told = await events(asked.id)
    const ended = await complete(db, asked.held, WORKER, null)
    expect(await go()).toEqual({ interrupt: first.interrupt, todo: ended })
    expect(await events(asked.id)).toBe(told + 1)
  })

  test('after somebody has answered gets that answer, and its own is ignored', async () => {
    const asked = await given(db, 'input-required')
    await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
    const gone = await resume(db, asked.held, WORKER, { interruptId: asked.interruptId, action: 'decline' })
    expect(gone.interrupt).toMatchObject({ status: 'answered', action: 'accept', answered_by: 'user:operator-1' })
  })

  test('of a question that is closed without an answer is refused', async () => {
    const { id, interruptId } = await given(db, 'input-required', { ago: { interrupted_at: 90_000 } })
    await expireInterrupts(db, { ttlSeconds: 86_400 })
    await backdate(db, id, { available_at: 0 })
    const { lease_epoch: leaseEpoch } = await claimById(db, id, {}, WORKER)
    const again = resume(db, { id, leaseEpoch, endpointId: WORKER.id }, WORKER, { interruptId, action: 'decline' })
    expect(await codeOf(again)).toBe('interrupt_closed')
  })
})
