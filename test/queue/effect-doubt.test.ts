import { describe, expect, test } from 'vitest'
import { answer, resume } from '#lib/queue/answer'
import { beginEffect } from '#lib/queue/begin-effect'
import { claimById } from '#lib/queue/claim'
import { expireLeases, expireParked } from '#lib/queue/expire'
import { interrupt } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { reportEffect, settleEffect } from '#lib/queue/settle-effect'
import type { Interrupt } from '#lib/wire/interrupt'
import type { PromptSchema } from '#lib/wire/prompt-schema'
import { endpoint, person } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { type Given, given, now, OPERATOR, PAY, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf, refusalOf } from '../support/refusal'
import { DAY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const schema: PromptSchema = { type: 'object', properties: { happened: { type: 'boolean' } }, required: ['happened'] }
const DOUBT = { kind: 'input', risk: 'high', title: 'Did it happen?', effect_key: PAY.key, schema } as const

/** A worker that has found an effect begun and asks whether it happened. */
async function doubted(mode: Interrupt['mode'] = 'park'): Promise<Given> {
  const begun = await given(db, 'claimed', { effect: {} })
  const { interrupt: asked } = await interrupt(db, begun.held, WORKER, { ...DOUBT, mode })
  return { ...begun, todo: await now(db, begun.id), interruptId: asked.id }
}

const effect = async (id: string) => (await sql`SELECT * FROM effects WHERE todo_id = ${id}`)[0]
const settlements = (id: string) =>
  sql`SELECT actor, data FROM todo_events WHERE todo_id = ${id} AND verb = 'effect_settled' ORDER BY id`
const happened = (is: boolean) =>
  ({ action: 'accept', content: { happened: is }, comment: 'The bank shows it' }) as const
const finding = (is: boolean) => ({ key: PAY.key, happened: is, comment: 'The bank shows it' })

/** The next claim begins the effect. */
async function beginsNext({ id }: Given) {
  const { lease_epoch: leaseEpoch } = await claimById(db, id, {}, WORKER)
  return beginEffect(db, { id, leaseEpoch, endpointId: WORKER.id }, WORKER, PAY)
}

describe('did it happen?', () => {
  test.each([
    [true, 'confirmed', false],
    [false, 'failed', true],
  ])('answered with %s the effect is %s, in the same statement', async (is, status, begun) => {
    const asked = await doubted()
    await answer(db, asked.interruptId, OPERATOR, happened(is))
    expect(await effect(asked.id)).toMatchObject({
      status,
      settled_by: 'user:operator-1',
      comment: 'The bank shows it',
      ended_at: expect.any(String),
    })
    const written = await sql`SELECT DISTINCT xmin::text FROM effects WHERE todo_id = ${asked.id}
      UNION SELECT xmin::text FROM todos WHERE id = ${asked.id}
      UNION SELECT xmin::text FROM interrupts WHERE id = ${asked.interruptId}`
    expect(written).toHaveLength(1)
    expect(await settlements(asked.id)).toMatchObject([{ actor: 'user:operator-1', data: { key: 'pay', status } }])
    expect(await beginsNext(asked)).toMatchObject({ begun })
  })

  test('held, it goes on with its worker', async () => {
    const asked = await doubted('hold')
    expect((await answer(db, asked.interruptId, OPERATOR, happened(false))).todo.state).toBe('claimed')
    expect(await beginEffect(db, asked.held, WORKER, PAY)).toMatchObject({ begun: true })
  })

  test.each(['hold', 'park'] as const)(
    'is not for the endpoint that asks to say, however it tries: %s',
    async (mode) => {
      const asked = await doubted(mode)
      const { interruptId } = asked
      expect(await codeOf(answer(db, interruptId, WORKER, happened(true)))).toBe('forbidden')
      expect(await codeOf(answer(db, interruptId, WORKER, { action: 'decline' }))).toBe('forbidden')
      expect(await codeOf(resume(db, asked.held, WORKER, { interruptId, ...happened(true) }))).toBe('forbidden')
      expect(await now(db, asked.id)).toEqual(asked.todo)
      expect((await effect(asked.id))?.status).toBe('begun')
      expect(await codeOf(answer(db, interruptId, endpoint('auditor'), happened(true)))).toBeNull()
      expect(await effect(asked.id)).toMatchObject({ status: 'confirmed', settled_by: 'client:auditor' })
    },
  )

  test('declined leaves it uncertain', async () => {
    const asked = await doubted()
    await answer(db, asked.interruptId, OPERATOR, { action: 'decline' })
    expect(await effect(asked.id)).toMatchObject({ status: 'begun', settled_by: null })
    expect(await codeOf(beginsNext(asked))).toBe('effect_uncertain')
    expect(await settlements(asked.id)).toEqual([])
  })

  test('answered by nobody leaves it uncertain too', async () => {
    const asked = await doubted()
    await backdate(db, asked.id, { interrupted_at: DAY + 1 })
    await expireParked(db, { ttlSeconds: DAY })
    expect(await codeOf(beginsNext(asked))).toBe('effect_uncertain')
  })

  test('takes a plain yes or no and nothing else', async () => {
    const asked = await doubted()
    for (const content of [undefined, {}, { happened: 'yes' }, { happened: true, amount: 5 }]) {
      expect(await codeOf(answer(db, asked.interruptId, OPERATOR, { action: 'accept', content }))).toBe(
        'validation_failed',
      )
    }
    expect(await now(db, asked.id)).toEqual(asked.todo)
  })

  test('is asked only about an effect that is begun', async () => {
    const { held } = await given(db, 'claimed')
    const wrong = { code: 'validation_failed', facts: { errors: [{ pointer: '/effect_key' }] } }
    expect(await refusalOf(interrupt(db, held, WORKER, DOUBT))).toMatchObject(wrong)
    await beginEffect(db, held, WORKER, PAY)
    await reportEffect(db, held, WORKER, { key: PAY.key, status: 'failed' })
    expect(await refusalOf(interrupt(db, held, WORKER, DOUBT))).toMatchObject(wrong)
    expect(await codeOf(interrupt(db, { ...held, leaseEpoch: 9 }, WORKER, DOUBT))).toBe('lease_lost')
  })

  test('about another effect is not answered by what is said of this one', async () => {
    const begun = await given(db, 'claimed', { effect: {} })
    await beginEffect(db, begun.held, WORKER, { ...PAY, key: 'mail' })
    const { interrupt: asked } = await interrupt(db, begun.held, WORKER, DOUBT)
    await reportEffect(db, begun.held, WORKER, { key: 'mail', status: 'confirmed' })
    expect(await now(db, begun.id)).toMatchObject({ state: 'input-required', open_interrupt_id: asked.id })
  })
})

const LATER = endpoint('worker-2')

/** A worker that lost its lease between doing an effect and saying so, and the next one, which asks whether it happened. */
async function overtaken(mode: Interrupt['mode']) {
  const first = await given(db, 'claimed', { effect: {}, ago: { lease_expires_at: 1 } })
  await expireLeases(db)
  await backdate(db, first.id, { available_at: 0 })
  const { lease_epoch: leaseEpoch } = await claimById(db, first.id, {}, LATER)
  const held = { id: first.id, leaseEpoch, endpointId: LATER.id }
  expect(await codeOf(beginEffect(db, held, LATER, PAY))).toBe('effect_uncertain')
  const asked = await interrupt(db, held, LATER, { ...DOUBT, mode })
  return { first, held, asked: asked.interrupt }
}

describe.each([
  ['confirmed', true],
  ['failed', false],
] as const)('while a person is asked, the late word of the worker that began it: %s', (status, is) => {
  const say = (first: Given) => reportEffect(db, first.held, WORKER, { key: PAY.key, status, result: 7 })

  test.each([
    ['park', 'continued', { state: 'pending', owner: null, lease_expires_at: null }],
    ['hold', 'resumed', { state: 'claimed', owner: 'worker-2/default' }],
  ] as const)('closes the question and lets the todo go on, in one transaction: %s', async (mode, verb, goesOn) => {
    const { first, asked } = await overtaken(mode)
    const before = await now(db, first.id)
    expect(await say(first)).toMatchObject({ status, result: 7 })
    expect(await now(db, first.id)).toMatchObject({
      ...goesOn,
      open_interrupt_id: null,
      interrupted_at: null,
      result: null,
      attempts: 2,
      failures: 0,
      lease_expirations: 1,
      version: before.version + 1,
    })
    const answered = { action: 'accept', content: { happened: is }, answered_by: 'worker:worker-1', channel: 'http' }
    expect(
      await sql`SELECT status, action, content, answered_by, channel FROM interrupts WHERE id = ${asked.id}`,
    ).toEqual([{ status: 'resolved', ...answered }])
    const written = await sql`SELECT DISTINCT xmin::text FROM effects WHERE todo_id = ${first.id}
      UNION SELECT xmin::text FROM todos WHERE id = ${first.id}
      UNION SELECT xmin::text FROM interrupts WHERE id = ${asked.id}`
    expect(written).toHaveLength(1)
    const told =
      await sql`SELECT verb, reason, to_state, actor FROM todo_events WHERE todo_id = ${first.id} ORDER BY id`
    expect(told.slice(-2)).toEqual([
      { verb: 'effect_settled', reason: null, to_state: null, actor: 'worker:worker-1/default' },
      { verb, reason: 'effect_settled', to_state: goesOn.state, actor: 'worker:worker-1' },
    ])
  })

  test.each(['park', 'hold'] as const)(
    'makes every later answer come too late, and told whose it was: %s',
    async (mode) => {
      const { first, asked } = await overtaken(mode)
      await say(first)
      for (const late of [happened(true), happened(false), { action: 'decline' } as const]) {
        expect(await refusalOf(answer(db, asked.id, OPERATOR, late))).toMatchObject({
          code: 'already_answered',
          facts: { answered_by: 'worker:worker-1', answered_at: expect.any(String) },
        })
      }
      expect(await codeOf(settleEffect(db, first.id, OPERATOR, finding(!is)))).toBe('invalid_state')
      expect(await effect(first.id)).toMatchObject({ status, settled_by: null, comment: null })
      expect(await settlements(first.id)).toHaveLength(1)
    },
  )

  test.each(['park', 'hold'] as const)('repeated is answered and told once: %s', async (mode) => {
    const { first } = await overtaken(mode)
    const word = await say(first)
    const after = await now(db, first.id)
    expect(await say(first)).toEqual(word)
    expect(await now(db, first.id)).toEqual(after)
    expect(await settlements(first.id)).toHaveLength(1)
  })

  test.each(['park', 'hold'] as const)('is what whoever goes on finds: %s', async (mode) => {
    const { first, held } = await overtaken(mode)
    await say(first)
    const again = mode === 'hold' ? beginEffect(db, held, LATER, PAY) : beginsNext(first)
    expect(await again).toMatchObject({ begun: !is })
  })
})

test('nobody else’s word closes the question: no stranger’s, no other epoch’s', async () => {
  const { first, held, asked } = await overtaken('park')
  const stranger = endpoint('stranger')
  for (const [at, by] of [
    [{ ...first.held, endpointId: stranger.id }, stranger],
    [held, LATER],
    [{ ...first.held, leaseEpoch: 9 }, WORKER],
  ] as const) {
    expect(await codeOf(reportEffect(db, at, by, { key: PAY.key, status: 'confirmed' }))).toBe('lease_lost')
  }
  expect(await now(db, first.id)).toMatchObject({ state: 'input-required', open_interrupt_id: asked.id })
  expect(await effect(first.id)).toMatchObject({ status: 'begun' })
})

describe('a person', () => {
  test('settles on the todo’s own page, with or without a question', async () => {
    const begun = await given(db, 'claimed', { effect: {} })
    const settled = await settleEffect(db, begun.id, OPERATOR, finding(true))
    expect(settled).toMatchObject({ status: 'confirmed', settled_by: 'user:operator-1', comment: 'The bank shows it' })
    expect(await settlements(begun.id)).toEqual([
      { actor: 'user:operator-1', data: { effect_id: settled.id, key: 'pay', status: 'confirmed' } },
    ])
    expect(await now(db, begun.id)).toEqual(begun.todo)
  })

  test.each(['park', 'hold'] as const)('and answers by it the open question about that effect: %s', async (mode) => {
    const asked = await doubted(mode)
    expect(await settleEffect(db, asked.id, OPERATOR, finding(false))).toMatchObject({ status: 'failed' })
    expect(await now(db, asked.id)).toMatchObject({ state: mode === 'park' ? 'pending' : 'claimed' })
    expect(
      await sql`SELECT status, content, comment, answered_by FROM interrupts WHERE id = ${asked.interruptId}`,
    ).toEqual([
      {
        status: 'answered',
        content: { happened: false },
        comment: 'The bank shows it',
        answered_by: 'user:operator-1',
      },
    ])
    expect(await settlements(asked.id)).toHaveLength(1)
  })

  test('leaves a question about something else open', async () => {
    const begun = await given(db, 'claimed', { effect: {} })
    await interrupt(db, begun.held, WORKER, { kind: 'input', title: 'Which?', risk: 'low' })
    await settleEffect(db, begun.id, OPERATOR, finding(true))
    expect((await now(db, begun.id)).state).toBe('input-required')
  })

  test('who says the same again gets the stored one; whoever comes after is too late', async () => {
    const asked = await doubted()
    const first = await settleEffect(db, asked.id, OPERATOR, finding(true))
    expect(await settleEffect(db, asked.id, OPERATOR, finding(true))).toEqual(first)
    expect(await codeOf(settleEffect(db, asked.id, OPERATOR, finding(false)))).toBe('invalid_state')
    expect(await codeOf(settleEffect(db, asked.id, person('else'), finding(true)))).toBe('invalid_state')
    expect(await settlements(asked.id)).toHaveLength(1)
  })

  test('has nothing to say where its worker has spoken, nor of what was never begun', async () => {
    const begun = await given(db, 'claimed', { effect: {} })
    await reportEffect(db, begun.held, WORKER, { key: PAY.key, status: 'failed' })
    expect(await codeOf(settleEffect(db, begun.id, OPERATOR, finding(true)))).toBe('invalid_state')
    expect(await codeOf(settleEffect(db, begun.id, OPERATOR, { ...finding(true), key: 'mail' }))).toBe('not_found')
    expect(await codeOf(settleEffect(db, 'no-such-todo', OPERATOR, finding(true)))).toBe('not_found')
  })

  test.each([true, false])('is overruled by the worker that did it (the person said happened: %s)', async (is) => {
    const begun = await given(db, 'claimed', { effect: {} })
    await settleEffect(db, begun.id, OPERATOR, finding(is))
    const status = is ? 'failed' : 'confirmed'
    const ended = await reportEffect(db, begun.held, WORKER, { key: PAY.key, status, result: 7 })
    expect(ended).toMatchObject({ status, result: 7, settled_by: null, comment: null })
    expect(await settlements(begun.id)).toMatchObject([
      { actor: 'user:operator-1' },
      { actor: 'worker:worker-1/default' },
    ])
    expect(await codeOf(settleEffect(db, begun.id, OPERATOR, finding(is)))).toBe('invalid_state')
  })

  test('is not overruled once the effect was begun again on their word', async () => {
    const begun = await given(db, 'claimed', { effect: {} })
    await settleEffect(db, begun.id, OPERATOR, finding(false))
    await release(db, begun.held, WORKER)
    expect(await beginsNext(begun)).toMatchObject({ begun: true })
    const late = reportEffect(db, begun.held, WORKER, { key: PAY.key, status: 'confirmed' })
    expect(await codeOf(late)).toBe('lease_lost')
    expect(await effect(begun.id)).toMatchObject({ status: 'begun', lease_epoch: 2 })
  })
})
