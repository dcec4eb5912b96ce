import { describe, expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { beginEffect } from '#lib/queue/begin-effect'
import { claim, claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { exhaust, expireInterrupts, expireLeases, expireParked } from '#lib/queue/expire'
import { heartbeat } from '#lib/queue/heartbeat'
import { interrupt, type Question } from '#lib/queue/interrupt'
import { reportEffect } from '#lib/queue/settle-effect'
import type { Held } from '#lib/queue/why-not'
import { argumentsHash } from '#lib/wire/arguments-hash'
import { approver, endpoint } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { given, now, OPERATOR } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

let workers = 0

/** The next claim is by a worker nobody has seen before. */
async function claimed(id: string): Promise<{ held: Held; worker: ReturnType<typeof endpoint> }> {
  workers += 1
  const worker = endpoint(`claimant-${workers}`)
  const { lease_epoch: leaseEpoch } = await claimById(db, id, {}, worker)
  return { held: { id, leaseEpoch, endpointId: worker.id }, worker }
}

const ASK = {
  input: { kind: 'input', title: 'Which?', risk: 'low' },
  approval: { kind: 'approval', title: 'May I?', risk: 'low', proposal: { action: 'pay', arguments: { amount: 5 } } },
} satisfies Record<string, Question>

const ANSWERS = { input: PLAIN_REPLY, approval: { action: 'accept' } } as const

/** One claim that asks, parks and is answered; the answered question's id. */
async function continued(id: string, kind: keyof typeof ASK, answerer = OPERATOR): Promise<string> {
  const { held, worker } = await claimed(id)
  const asked = await interrupt(db, held, worker, {
    ...ASK[kind],
    mode: 'park',
    checkpoint: { epoch: held.leaseEpoch },
  })
  await answer(db, asked.interrupt.id, answerer, ANSWERS[kind])
  return asked.interrupt.id
}

/** Every sweep of a tick, in its order; the ids of what it moved. */
async function tick(): Promise<string[]> {
  const ttl = { ttlSeconds: DAY }
  const sweeps = [expireLeases, () => expireInterrupts(db, ttl), () => expireParked(db, ttl), exhaust]
  const moved = []
  for (const sweep of sweeps) moved.push(...(await sweep(db)))
  return moved.map(({ todo }) => todo.id)
}

const count = async (id: string, verb: string, actor = '%') =>
  (await sql`SELECT id FROM todo_events WHERE todo_id = ${id} AND verb = ${verb} AND actor LIKE ${actor}`).length

describe.each([
  [3, 5],
  [5, 7],
])('%s parked questions, an approval and an effect', (questions, attempts) => {
  test(`are ${attempts} attempts, none of them spent, and the effect is done once`, async () => {
    const { id } = await given(db, 'pending')
    const boss = await approver(db)
    for (let n = 0; n < questions; n++) {
      await continued(id, 'input')
      expect(await tick()).toEqual([])
    }
    const approval = await continued(id, 'approval', boss)
    const { held, worker } = await claimed(id)
    const arguments_hash = await argumentsHash({ amount: 5 })
    const pay = { key: 'pay', idempotent: false, arguments_hash, interrupt_id: approval, request_id: 'r1' }
    expect(await beginEffect(db, held, worker, pay)).toMatchObject({ begun: true })
    await reportEffect(db, held, worker, { key: 'pay', status: 'confirmed', result: { receipt: 7 } })
    expect(await beginEffect(db, held, worker, pay)).toMatchObject({
      begun: false,
      effect: { status: 'confirmed', result: { receipt: 7 } },
    })
    await complete(db, held, worker, 'paid')
    expect(await tick()).toEqual([])
    expect(await now(db, id)).toMatchObject({
      state: 'completed',
      attempts,
      lease_epoch: attempts,
      lease_expirations: 0,
      wait_expirations: 0,
      failures: 0,
      max_attempts: 3,
      checkpoint: { epoch: attempts - 1 },
    })
    expect(await sql`SELECT status FROM effects WHERE todo_id = ${id}`).toEqual([{ status: 'confirmed' }])
    expect(await count(id, 'effect_begun')).toBe(1)
    expect(await count(id, 'effect_settled')).toBe(1)
    expect(await count(id, 'requeued')).toBe(0)
    expect(await count(id, 'failed')).toBe(0)
    expect(
      await sql`SELECT outcome, count(*) AS n FROM todo_attempts WHERE todo_id = ${id} GROUP BY 1 ORDER BY 1`,
    ).toEqual([
      { outcome: 'completed', n: 1 },
      { outcome: 'continued', n: attempts - 1 },
    ])
  })
})

describe.each(['input', 'approval'] as const)('three crashes between clean continuations by %s', (kind) => {
  test('end the todo at the third, and not a moment before', async () => {
    const { id } = await given(db, 'pending')
    for (const crash of [1, 2, 3]) {
      for (let n = 0; n < 4; n++) await continued(id, kind)
      const { held, worker } = await claimed(id)
      await backdate(db, id, { lease_expires_at: 1 })
      expect(await tick()).toEqual([id])
      if (crash < 3) await requeuedAfter(id, crash)
      expect(await codeOf(heartbeat(db, held, worker))).toBe(crash < 3 ? 'lease_lost' : 'todo_terminal')
      expect(await now(db, id)).toMatchObject({ attempts: 5 * crash, lease_epoch: 5 * crash, lease_expirations: crash })
      if (crash < 3) await backdate(db, id, { available_at: 0 })
    }
    const dead = await now(db, id)
    expect(dead).toMatchObject({ state: 'failed', attempts: 15, failures: 0, error: { code: 'max_attempts_exceeded' } })
    expect(await count(id, 'failed')).toBe(1)
    expect(await count(id, 'requeued', 'reaper')).toBe(2)
    expect(await tick()).toEqual([])
    expect(await now(db, id)).toEqual(dead)
  })
})

/** It waits so many seconds, exactly, and until then nobody gets it. */
async function requeuedAfter(id: string, seconds: number): Promise<void> {
  const [row] =
    await sql`SELECT state, extract(epoch FROM available_at - updated_at)::float8 AS due FROM todos WHERE id = ${id}`
  expect(row).toEqual({ state: 'pending', due: seconds })
  const { updated_at } = await now(db, id)
  const early = endpoint('early')
  // Later than a slow machine takes: the claim must be too early.
  await backdate(db, id, { available_at: -60 })
  expect(await claim(db, { queues: ['main'] }, early)).toEqual([])
  expect(await codeOf(claimById(db, id, {}, early))).toBe('invalid_state')
  expect((await now(db, id)).updated_at).toBe(updated_at)
}

test('a pending todo with all three executions lost goes to nobody, and one tick ends it', async () => {
  const { id } = await given(db, 'pending', { leaseExpirations: 2 })
  // By hand, as a backfill may leave it: the third loss is one of the log's, too.
  await sql`UPDATE todos SET lease_expirations = 3 WHERE id = ${id}`
  await sql`INSERT INTO todo_events (todo_id, queue, verb, actor, data)
    SELECT id, queue, 'edited', 'system', '{"reclaimed_epoch": 3}' FROM todos WHERE id = ${id}`
  await sql`UPDATE todos SET version = version + 1 WHERE id = ${id}`
  expect(await claim(db, { queues: ['main'] }, endpoint('nobody'))).toEqual([])
  expect(await codeOf(claimById(db, id, {}, endpoint('nobody')))).toBe('invalid_state')
  expect(await tick()).toEqual([id])
  expect(await now(db, id)).toMatchObject({
    state: 'failed',
    lease_expirations: 3,
    failures: 0,
    error: { code: 'max_attempts_exceeded' },
  })
  expect(await count(id, 'failed')).toBe(1)
  expect(await tick()).toEqual([])
})
