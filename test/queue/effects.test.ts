import { describe, expect, test } from 'vitest'
import { answer, resume } from '#lib/queue/answer'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { beginEffect, type Declaration, reportEffect, settleEffect } from '#lib/queue/effects'
import { expireLeases } from '#lib/queue/expire'
import { interrupt, type Question } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { argumentsHash } from '#lib/wire/arguments-hash'
import { approver } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf, refusalOf } from '../support/refusal'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

const SEND: Declaration = { key: 'send', idempotent: false, request_id: 'one' }

const begin = (held: Parameters<typeof beginEffect>[1], declared: Declaration) =>
  beginEffect(db, held, WORKER, declared)

const report = (held: Parameters<typeof reportEffect>[1], status: 'confirmed' | 'failed') =>
  reportEffect(db, held, WORKER, { key: 'send', status, result: { n: 1 } })

async function claimedAgain(id: string) {
  const { lease_epoch } = await claimById(db, id, {}, WORKER)
  return { id, leaseEpoch: lease_epoch, endpointId: WORKER.id }
}

const events = async (id: string, verb: string) =>
  sql`SELECT actor, data FROM todo_events WHERE todo_id = ${id} AND verb = ${verb} ORDER BY id`

const WHETHER: Question = {
  kind: 'input',
  mode: 'park',
  title: 'Did it happen?',
  risk: 'high',
  effect_key: 'send',
  schema: { type: 'object', properties: { happened: { type: 'boolean' } }, required: ['happened'] },
}

describe('beginning an effect', () => {
  test('that was confirmed answers with its outcome, and nothing is begun', async () => {
    const { held, id } = await given(db, 'claimed')
    await begin(held, SEND)
    await report(held, 'confirmed')
    expect(await begin(held, { ...SEND, request_id: 'two' })).toMatchObject({
      begun: false,
      effect: { result: { n: 1 } },
    })
    expect(await events(id, 'effect_begun')).toHaveLength(1)
  })

  test('that certainly didn’t happen begins it again, with nothing left of how it ended', async () => {
    const { held } = await given(db, 'claimed')
    await begin(held, SEND)
    await report(held, 'failed')
    const again = await begin(held, { ...SEND, request_id: 'two' })
    expect(again).toMatchObject({ begun: true, effect: { status: 'begun', result: null, ended_at: null } })
  })

  test('that may happen twice begins it again', async () => {
    const { held } = await given(db, 'claimed')
    const twice = { ...SEND, idempotent: true }
    await begin(held, twice)
    expect(await begin(held, { ...twice, request_id: 'two' })).toMatchObject({ begun: true })
  })

  test('of which nobody knows is refused, but for a repeat of the same call', async () => {
    const { held, id } = await given(db, 'claimed')
    const first = await begin(held, SEND)
    expect(await begin(held, SEND)).toEqual({ ...first, begun: false })
    expect(await codeOf(begin(held, { ...SEND, request_id: 'two' }))).toBe('effect_uncertain')
    expect(await codeOf(begin(held, { ...SEND, request_id: undefined }))).toBe('effect_uncertain')
    expect(await codeOf(begin(held, { ...SEND, request_id: 'two', idempotent: true }))).toBe('effect_uncertain')
    await release(db, held, WORKER)
    expect(await codeOf(begin(await claimedAgain(id), SEND))).toBe('effect_uncertain')
  })

  test('needs a lease that is this epoch’s and has not lapsed', async () => {
    const { held, id } = await given(db, 'claimed')
    expect(await codeOf(begin({ ...held, leaseEpoch: 7 }, SEND))).toBe('lease_lost')
    await backdate(db, id, { lease_expires_at: 1 })
    expect(await codeOf(begin(held, SEND))).toBe('invalid_state')
    expect(await sql`SELECT FROM effects WHERE todo_id = ${id}`).toEqual([])
  })

  test('at once under two marks lets one through', async () => {
    for (let n = 0; n < times(20, 500); n++) {
      const { held, id } = await given(db, 'claimed')
      const codes = await Promise.all(['one', 'two'].map((request_id) => codeOf(begin(held, { ...SEND, request_id }))))
      expect(codes.sort()).toEqual(['effect_uncertain', null])
      expect(await events(id, 'effect_begun')).toHaveLength(1)
    }
  })
})

describe('how an effect ended', () => {
  test('is heard from the epoch that began it, after its lease was lost and after the todo has ended', async () => {
    const { held, id } = await given(db, 'claimed')
    await begin(held, SEND)
    await backdate(db, id, { lease_expires_at: 1 })
    await expireLeases(db)
    await backdate(db, id, { available_at: 0 })
    await complete(db, await claimedAgain(id), WORKER, null)
    expect(await report(held, 'confirmed')).toMatchObject({ status: 'confirmed', settled_by: null })
    expect(await report(held, 'confirmed')).toMatchObject({ status: 'confirmed' })
    expect(await codeOf(report(held, 'failed'))).toBe('invalid_state')
    expect(await events(id, 'effect_settled')).toHaveLength(1)
  })

  test('is not heard once a later epoch has begun it again, and leaves one fenced event', async () => {
    const { held, id } = await given(db, 'claimed')
    await begin(held, { ...SEND, idempotent: true })
    await release(db, held, WORKER)
    await begin(await claimedAgain(id), { ...SEND, idempotent: true })
    expect(await codeOf(report(held, 'confirmed'))).toBe('lease_lost')
    expect(await codeOf(report(held, 'confirmed'))).toBe('lease_lost')
    expect(await events(id, 'fenced')).toHaveLength(1)
  })

  test('by a worker’s word beats a person’s', async () => {
    const { held, id } = await given(db, 'claimed')
    await begin(held, SEND)
    const settled = await settleEffect(db, id, OPERATOR, { key: 'send', happened: false, comment: 'Not in the outbox' })
    expect(settled).toMatchObject({ status: 'failed', settled_by: 'user:operator-1', comment: 'Not in the outbox' })
    expect(await report(held, 'confirmed')).toMatchObject({ status: 'confirmed', settled_by: null, comment: null })
  })
})

describe('whether it happened', () => {
  async function asked() {
    const { held, id } = await given(db, 'claimed')
    await begin(held, SEND)
    const { interrupt: question } = await interrupt(db, held, WORKER, WHETHER)
    return { id, held, question }
  }

  test.each([
    [true, 'confirmed', false],
    [false, 'failed', true],
  ])('answered %s settles it in the same statement', async (happened, status, begun) => {
    const { id, question } = await asked()
    await answer(db, question.id, OPERATOR, { action: 'accept', content: { happened }, comment: 'I looked' })
    expect(await sql`SELECT status, settled_by, comment FROM effects WHERE todo_id = ${id}`).toEqual([
      { status, settled_by: 'user:operator-1', comment: 'I looked' },
    ])
    expect(await begin(await claimedAgain(id), { ...SEND, request_id: 'two' })).toMatchObject({ begun })
  })

  test('can’t be said by who asks, and declined stays in doubt', async () => {
    const { id, held, question } = await asked()
    expect(await codeOf(answer(db, question.id, WORKER, { action: 'accept', content: { happened: true } }))).toBe(
      'forbidden',
    )
    const resumed = resume(db, held, WORKER, {
      interruptId: question.id,
      action: 'accept',
      content: { happened: true },
    })
    expect(await codeOf(resumed)).toBe('forbidden')
    expect(await codeOf(answer(db, question.id, OPERATOR, { action: 'accept', content: {} }))).toBe('validation_failed')
    await answer(db, question.id, OPERATOR, { action: 'decline' })
    expect(await codeOf(begin(await claimedAgain(id), { ...SEND, request_id: 'two' }))).toBe('effect_uncertain')
  })

  test('said on the todo’s page answers the question too', async () => {
    const { id, question } = await asked()
    const finding = { key: 'send', happened: true, comment: 'It arrived' }
    expect(await settleEffect(db, id, OPERATOR, finding)).toMatchObject({ status: 'confirmed', comment: 'It arrived' })
    expect(await settleEffect(db, id, OPERATOR, finding)).toMatchObject({ status: 'confirmed' })
    expect(await codeOf(settleEffect(db, id, OPERATOR, { ...finding, happened: false }))).toBe('invalid_state')
    expect(await sql`SELECT status FROM interrupts WHERE id = ${question.id}`).toEqual([{ status: 'answered' }])
    expect(await now(db, id)).toMatchObject({ state: 'pending' })
    expect(await events(id, 'effect_settled')).toHaveLength(1)
  })

  test('is asked only of an effect that was begun', async () => {
    const { held } = await given(db, 'claimed')
    const refusal = await refusalOf(interrupt(db, held, WORKER, WHETHER))
    expect(refusal).toMatchObject({ code: 'validation_failed', facts: { errors: [{ pointer: '/effect_key' }] } })
  })
})

describe('an approval', () => {
  const ARGUMENTS = { to: 'ada@example.org' }
  const MAY_I: Question = {
    kind: 'approval',
    mode: 'park',
    title: 'May I?',
    risk: 'high',
    proposal: { action: 'Send', arguments: ARGUMENTS },
  }

  async function approved(action: 'accept' | 'decline' = 'accept', role: 'viewer' | 'responder' = 'responder') {
    const person = await approver(db, role)
    const { held, id } = await given(db, 'claimed')
    const { interrupt: question } = await interrupt(db, held, WORKER, MAY_I)
    await answer(db, question.id, person, { action, comment: 'Because' })
    const next = await claimedAgain(id)
    const declared = { ...SEND, interrupt_id: question.id, arguments_hash: await argumentsHash(ARGUMENTS) }
    return { id, next, question, person, declared }
  }

  test('lets exactly what it approved begin, once', async () => {
    const { next, declared } = await approved()
    expect(await begin(next, declared)).toMatchObject({ begun: true })
    expect(await codeOf(begin(next, { ...declared, key: 'another' }))).toBe('approval_mismatch')
  })

  test('does not cover changed arguments, nor lasts longer than its risk allows', async () => {
    const { next, question, declared, id } = await approved()
    const changed = { ...declared, arguments_hash: await argumentsHash({ to: 'eve@example.org' }) }
    expect(await codeOf(begin(next, changed))).toBe('approval_mismatch')
    expect(await codeOf(begin(next, { ...declared, arguments_hash: undefined }))).toBe('approval_mismatch')
    await sql`UPDATE interrupts SET answered_at = now() - interval '4 hours' WHERE id = ${question.id}`
    expect(await codeOf(begin(next, declared))).toBe('approval_mismatch')
    expect(await sql`SELECT FROM effects WHERE todo_id = ${id}`).toEqual([])
  })

  test('counts only while who gave it still may, and never declined', async () => {
    const demoted = await approved('accept', 'viewer')
    expect(await codeOf(begin(demoted.next, demoted.declared))).toBe('approval_mismatch')
    const declined = await approved('decline')
    expect(await codeOf(begin(declined.next, declined.declared))).toBe('approval_mismatch')
  })

  test('is never given by who asks, nor by its holder, nor twice', async () => {
    const { held } = await given(db, 'claimed')
    const { interrupt: question } = await interrupt(db, held, WORKER, { ...MAY_I, mode: 'hold' })
    expect(await codeOf(answer(db, question.id, WORKER, { action: 'accept' }))).toBe('forbidden')
    expect(await codeOf(resume(db, held, WORKER, { interruptId: question.id, action: 'accept' }))).toBe('forbidden')
    await answer(db, question.id, OPERATOR, { action: 'accept' })
    expect(await codeOf(answer(db, question.id, await approver(db), { action: 'accept' }))).toBe('already_answered')
  })
})
