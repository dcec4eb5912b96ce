import { describe, expect, test } from 'vitest'
import { beginEffect, type Declaration } from '#lib/queue/begin-effect'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { expireLeases } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { heartbeat } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { reportEffect } from '#lib/queue/settle-effect'
import type { Held } from '#lib/queue/why-not'
import { argumentsHash } from '#lib/wire/arguments-hash'
import type { EndpointCaller } from '#lib/wire/caller'
import { endpoint } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { type Given, given, now, PAY, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf, refusalOf } from '../support/refusal'

const { db, sql } = database()
keepsInvariants(db)

const OTHER = endpoint('worker-2')

const begin = ({ held, worker }: Pick<Given, 'held' | 'worker'>, said: Partial<Declaration> = {}) =>
  beginEffect(db, held, worker, { ...PAY, ...said })

const report = ({ held, worker }: Pick<Given, 'held' | 'worker'>, status: 'confirmed' | 'failed', result?: unknown) =>
  reportEffect(db, held, worker, { key: PAY.key, status, result })

const effects = (id: string) => sql`SELECT * FROM effects WHERE todo_id = ${id}`
const events = (id: string, verb: string) =>
  sql`SELECT verb, actor, attempt_seq, lease_epoch, data FROM todo_events WHERE todo_id = ${id} AND verb = ${verb} ORDER BY id`

/** Gives the todo back and claims it anew. */
async function next(
  { id, held, worker }: Given,
  by: EndpointCaller = OTHER,
): Promise<{ held: Held; worker: EndpointCaller }> {
  await release(db, held, worker)
  const { lease_epoch: leaseEpoch } = await claimById(db, id, {}, by)
  return { held: { id, leaseEpoch, endpointId: by.id }, worker: by }
}

describe('a begin', () => {
  test('declares the effect and commits that, and leaves the todo as it is', async () => {
    const todo = await given(db, 'claimed')
    const arguments_hash = await argumentsHash({ amount: 5 })
    const { begun, effect } = await begin(todo, { arguments_hash, request_id: 'r1', description: 'Pay the rent' })
    expect(begun).toBe(true)
    expect(effect).toEqual({
      id: expect.any(String),
      todo_id: todo.id,
      key: 'pay',
      idempotent: false,
      status: 'begun',
      lease_epoch: 1,
      request_id: 'r1',
      arguments_hash,
      interrupt_id: null,
      description: 'Pay the rent',
      result: null,
      begun_at: expect.any(String),
      ended_at: null,
      settled_by: null,
      comment: null,
    })
    expect(await now(db, todo.id)).toEqual(todo.todo)
    expect(await events(todo.id, 'effect_begun')).toEqual([
      {
        verb: 'effect_begun',
        actor: 'worker:worker-1/default',
        attempt_seq: 1,
        lease_epoch: 1,
        data: { effect_id: effect.id, key: 'pay', idempotent: false, interrupt_id: null },
      },
    ])
  })

  test('that finds it confirmed gets the outcome, in whatever epoch and however it is declared', async () => {
    const todo = await given(db, 'claimed', { effect: {} })
    const confirmed = await report(todo, 'confirmed', { receipt: 7 })
    expect(await begin(todo)).toEqual({ begun: false, effect: confirmed })
    const later = await next(todo)
    expect(await begin(later, { idempotent: true })).toEqual({ begun: false, effect: confirmed })
    expect(await events(todo.id, 'effect_begun')).toHaveLength(1)
  })

  test('that finds it failed begins it again, and nothing of the failure is left', async () => {
    const todo = await given(db, 'claimed', { effect: { request_id: 'r1' } })
    const failed = await report(todo, 'failed', { why: 'no money' })
    const again = await begin(todo, { request_id: 'r2' })
    expect(again).toMatchObject({
      begun: true,
      effect: { id: failed.id, status: 'begun', request_id: 'r2', result: null, ended_at: null },
    })
    await report(todo, 'failed')
    expect(await begin(await next(todo))).toMatchObject({ begun: true, effect: { id: failed.id, lease_epoch: 2 } })
  })

  test('of an idempotent one that is begun begins it again, in this epoch or a later one', async () => {
    const todo = await given(db, 'claimed', { effect: { idempotent: true } })
    expect(await begin(todo, { idempotent: true })).toMatchObject({ begun: true, effect: { lease_epoch: 1 } })
    const later = await next(todo)
    expect(await begin(later, { idempotent: true })).toMatchObject({ begun: true, effect: { lease_epoch: 2 } })
    expect(await effects(todo.id)).toHaveLength(1)
    expect(await events(todo.id, 'effect_begun')).toHaveLength(3)
  })

  test('repeated under its request id in its epoch is the same begin, told and counted once', async () => {
    const todo = await given(db, 'claimed')
    const first = await begin(todo, { request_id: 'r1' })
    expect(await begin(todo, { request_id: 'r1' })).toEqual({ begun: false, effect: first.effect })
    expect(await events(todo.id, 'effect_begun')).toHaveLength(1)
  })

  const UNCERTAIN: [string, Partial<Declaration>, Partial<Declaration>, boolean][] = [
    ['without a request id', {}, {}, false],
    ['of which only the first has a request id', { request_id: 'r1' }, {}, false],
    ['under another request id', { request_id: 'r1' }, { request_id: 'r2' }, false],
    ['under its request id in a later epoch', { request_id: 'r1' }, { request_id: 'r1' }, true],
    ['that calls it idempotent now', {}, { idempotent: true }, false],
    ['that no longer calls it idempotent', { idempotent: true }, {}, false],
    ['in a later epoch', {}, {}, true],
  ]

  test.each(UNCERTAIN)(
    'of one that may not be done twice and is begun is uncertain: %s',
    async (_, first, second, later) => {
      const todo = await given(db, 'claimed', { effect: first })
      const before = await effects(todo.id)
      const again = later ? await next(todo) : todo
      expect(await refusalOf(begin(again, second))).toMatchObject({
        code: 'effect_uncertain',
        facts: { state: 'claimed', effect_id: before[0]?.id, begun_at: expect.any(String) },
      })
      expect(await effects(todo.id)).toEqual(before)
      expect(await events(todo.id, 'effect_begun')).toHaveLength(1)
    },
  )

  test('after the lease has lapsed waits for a beat', async () => {
    const todo = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    expect(await codeOf(begin(todo))).toBe('invalid_state')
    expect(await effects(todo.id)).toEqual([])
    await heartbeat(db, todo.held, WORKER)
    expect(await begin(todo)).toMatchObject({ begun: true })
    await backdate(db, todo.id, { lease_expires_at: 1 })
    expect(await codeOf(begin(todo, { key: 'mail', idempotent: true }))).toBe('invalid_state')
    expect(await codeOf(begin(todo))).toBe('invalid_state')
  })

  test('by a worker that lost the lease changes nothing', async () => {
    const todo = await given(db, 'claimed', { effect: { idempotent: true }, ago: { lease_expires_at: 1 } })
    const before = await effects(todo.id)
    await expireLeases(db)
    expect(await codeOf(begin(todo, { idempotent: true }))).toBe('lease_lost')
    for (const leaseEpoch of [0, 2, 2 ** 40]) {
      expect(await codeOf(begin({ ...todo, held: { ...todo.held, leaseEpoch } }, { idempotent: true }))).toBe(
        'lease_lost',
      )
    }
    expect(await effects(todo.id)).toEqual(before)
    expect(await events(todo.id, 'fenced')).toHaveLength(1)
  })

  test('while a question is open is not possible, nor after the todo has ended', async () => {
    expect(await codeOf(begin(await given(db, 'input-required')))).toBe('invalid_state')
    const done = await given(db, 'completed')
    expect(await codeOf(begin(done))).toBe('todo_terminal')
    expect(await effects(done.id)).toEqual([])
  })

  test('is one effect for each key and each todo', async () => {
    const [one, two] = [await given(db, 'claimed', { effect: {} }), await given(db, 'claimed', { effect: {} })]
    expect(await begin(one, { key: 'Pay' })).toMatchObject({ begun: true })
    expect(await begin(one, { key: 'pay/1 €' })).toMatchObject({ begun: true })
    expect(await effects(one.id)).toHaveLength(3)
    expect(await effects(two.id)).toHaveLength(1)
  })
})

describe('a worker’s word', () => {
  test('ends its effect, and the log tells', async () => {
    const todo = await given(db, 'claimed', { effect: {} })
    const ended = await report(todo, 'confirmed', { receipt: 7 })
    expect(ended).toMatchObject({ status: 'confirmed', result: { receipt: 7 }, settled_by: null })
    expect(Date.parse(ended.ended_at as string)).toBeGreaterThanOrEqual(Date.parse(ended.begun_at))
    expect(await events(todo.id, 'effect_settled')).toEqual([
      {
        verb: 'effect_settled',
        actor: 'worker:worker-1/default',
        attempt_seq: 1,
        lease_epoch: 1,
        data: { effect_id: ended.id, key: 'pay', status: 'confirmed' },
      },
    ])
    expect(await now(db, todo.id)).toEqual(todo.todo)
  })

  test.each(['confirmed', 'failed'] as const)(
    'repeated is answered and told once; its contrary is refused: %s',
    async (status) => {
      const todo = await given(db, 'claimed', { effect: {} })
      const first = await report(todo, status, { n: 1 })
      expect(await report(todo, status, { n: 2 })).toEqual(first)
      expect(await codeOf(report(todo, status === 'failed' ? 'confirmed' : 'failed'))).toBe('invalid_state')
      expect(await effects(todo.id)).toMatchObject([{ status, result: { n: 1 } }])
      expect(await events(todo.id, 'effect_settled')).toHaveLength(1)
    },
  )

  test('counts after its lease was lost, and whoever comes next finds it', async () => {
    const todo = await given(db, 'claimed', { effect: {}, ago: { lease_expires_at: 1 } })
    await expireLeases(db)
    await backdate(db, todo.id, { available_at: 0 })
    const { lease_epoch: leaseEpoch } = await claimById(db, todo.id, {}, OTHER)
    const later = { held: { ...todo.held, leaseEpoch, endpointId: OTHER.id }, worker: OTHER }
    expect(await codeOf(begin(later))).toBe('effect_uncertain')
    await report(todo, 'confirmed', { receipt: 7 })
    expect(await begin(later)).toMatchObject({ begun: false, effect: { status: 'confirmed', result: { receipt: 7 } } })
    expect(await events(todo.id, 'fenced')).toEqual([])
  })

  const ENDINGS: [string, (given: Given) => Promise<unknown>][] = [
    ['completed', ({ held }) => complete(db, held, WORKER, null)],
    ['failed', ({ held }) => fail(db, held, WORKER, { error: { code: 'x', message: 'x' }, retryable: false })],
    ['canceled', ({ id }) => cancel(db, id, WORKER)],
  ]

  test.each(ENDINGS)('counts after the todo has %s, which stays as it ended', async (state, end) => {
    const todo = await given(db, 'claimed', { effect: {} })
    await end(todo)
    const ended = await now(db, todo.id)
    expect(await report(todo, 'confirmed')).toMatchObject({ status: 'confirmed' })
    expect(ended.state).toBe(state)
    expect(await now(db, todo.id)).toEqual(ended)
  })

  test('counts while its question is open', async () => {
    const todo = await given(db, 'claimed', { effect: {} })
    await interrupt(db, todo.held, WORKER, { kind: 'input', mode: 'park', title: 'Which?', risk: 'low' })
    expect(await report(todo, 'failed')).toMatchObject({ status: 'failed' })
  })

  test.each([WORKER, OTHER])(
    'no longer counts once a later epoch has begun it again: one event says so ($name)',
    async (by) => {
      const todo = await given(db, 'claimed', { effect: { idempotent: true } })
      const later = await next(todo, by)
      const { effect } = await begin(later, { idempotent: true })
      for (const status of ['confirmed', 'failed', 'confirmed'] as const) {
        expect(await codeOf(report(todo, status))).toBe('lease_lost')
      }
      expect(await effects(todo.id)).toMatchObject([{ id: effect.id, status: 'begun', lease_epoch: 2 }])
      expect(await events(todo.id, 'fenced')).toMatchObject([{ lease_epoch: 1, actor: 'worker:worker-1/default' }])
      expect(await report(later, 'confirmed')).toMatchObject({ status: 'confirmed' })
      expect(await codeOf(report(todo, 'confirmed'))).toBe('lease_lost')
    },
  )

  test('is not known of an effect another epoch began: the holder is told so and keeps its lease', async () => {
    const todo = await given(db, 'claimed', { effect: {} })
    const later = await next(todo)
    expect(await codeOf(report(later, 'confirmed'))).toBe('invalid_state')
    expect(await effects(todo.id)).toMatchObject([{ status: 'begun', lease_epoch: 1 }])
    expect(await events(todo.id, 'fenced')).toEqual([])
    await heartbeat(db, later.held, OTHER)
  })

  test('is nothing to a todo it may not see, nor about an effect never begun', async () => {
    const todo = await given(db, 'claimed', { effect: {} })
    const elsewhere = endpoint('elsewhere', { queues: ['other'] })
    const held = { ...todo.held, endpointId: elsewhere.id }
    expect(await codeOf(report({ held, worker: elsewhere }, 'confirmed'))).toBe('not_found')
    expect(await codeOf(reportEffect(db, todo.held, WORKER, { key: 'mail', status: 'failed' }))).toBe('not_found')
  })

  test('counts when its attempt is long pruned', async () => {
    const todo = await given(db, 'claimed', { effect: {} })
    const later = await next(todo)
    await sql`DELETE FROM todo_attempts WHERE todo_id = ${todo.id} AND seq = 1`
    expect(await report(todo, 'confirmed')).toMatchObject({ status: 'confirmed' })
    expect(await events(todo.id, 'effect_settled')).toMatchObject([{ actor: 'worker:worker-1', attempt_seq: null }])
    await complete(db, later.held, OTHER, null)
  })
})
