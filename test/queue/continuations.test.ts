import { expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { beginEffect, reportEffect } from '#lib/queue/effects'
import { expireLeases } from '#lib/queue/expire'
import { heartbeat } from '#lib/queue/heartbeat'
import { interrupt, type Question } from '#lib/queue/interrupt'
import type { Held } from '#lib/queue/why-not'
import { argumentsHash } from '#lib/wire/arguments-hash'
import { approver } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const PROPOSAL = { action: 'Send it', arguments: { to: 'ada@example.org' } }

const parkedInput = (n: number): Question => ({ kind: 'input', mode: 'park', title: `Question ${n}?`, risk: 'low' })
const parkedApproval: Question = { kind: 'approval', mode: 'park', title: 'May I?', risk: 'high', proposal: PROPOSAL }

async function claimed(id: string): Promise<Held> {
  const todo = await claimById(db, id, {}, WORKER)
  return { id, leaseEpoch: todo.lease_epoch, endpointId: WORKER.id }
}

/** One clean continuation: claimed, asked and parked, answered. */
async function goOn(id: string, question: Question): Promise<string> {
  const asked = await interrupt(db, await claimed(id), WORKER, question)
  expect(asked.todo).toMatchObject({ owner: null, lease_expires_at: null })
  const reply = question.kind === 'input' ? PLAIN_REPLY : ({ action: 'accept' } as const)
  const { todo } = await answer(db, asked.interrupt.id, OPERATOR, reply)
  expect(todo).toMatchObject({ state: 'pending', result: null, open_interrupt_id: null, interrupted_at: null })
  return asked.interrupt.id
}

const verbs = async (id: string, verb: string) =>
  (await sql`SELECT actor FROM todo_events WHERE todo_id = ${id} AND verb = ${verb}`).map(({ actor }) => actor)

test.each([
  [3, 5],
  [5, 7],
])('%i parked answers, an approval and one effect take %i attempts and spend nothing', async (questions, attempts) => {
  const person = await approver(db)
  const { id } = await given(db, 'pending')
  for (let n = 0; n < questions; n++) await goOn(id, parkedInput(n))
  const asked = await interrupt(db, await claimed(id), WORKER, parkedApproval)
  await answer(db, asked.interrupt.id, person, { action: 'accept' })
  const held = await claimed(id)
  const declared = {
    key: 'send',
    idempotent: false,
    interrupt_id: asked.interrupt.id,
    arguments_hash: await argumentsHash(PROPOSAL.arguments),
  }
  expect(await beginEffect(db, held, WORKER, declared)).toMatchObject({ begun: true, effect: { status: 'begun' } })
  await reportEffect(db, held, WORKER, { key: 'send', status: 'confirmed', result: { sent: 1 } })
  expect(await beginEffect(db, held, WORKER, declared)).toMatchObject({ begun: false, effect: { result: { sent: 1 } } })
  await complete(db, held, WORKER, { done: true })
  expect(await now(db, id)).toMatchObject({
    state: 'completed',
    attempts,
    lease_epoch: attempts,
    lease_expirations: 0,
    failures: 0,
    wait_expirations: 0,
  })
  expect(await verbs(id, 'requeued')).toEqual([])
  expect(await verbs(id, 'failed')).toEqual([])
  expect(await verbs(id, 'effect_begun')).toHaveLength(1)
})

test.each([
  ['input', parkedInput(1)],
  ['approval', parkedApproval],
])('crashes alone end a todo that goes on and on by %s', async (_, question) => {
  const { id } = await given(db, 'pending')
  for (const crash of [1, 2, 3]) {
    for (let n = 0; n < 4; n++) await goOn(id, question)
    const dead = await claimed(id)
    await backdate(db, id, { lease_expires_at: 1 })
    expect(await expireLeases(db)).toHaveLength(1)
    const [row] =
      await sql`SELECT state, extract(epoch FROM available_at - state_since)::float8 AS after FROM todos WHERE id = ${id}`
    expect(row).toEqual(crash < 3 ? { state: 'pending', after: crash } : { state: 'failed', after: expect.anything() })
    expect(await codeOf(heartbeat(db, dead, WORKER))).toBe(crash < 3 ? 'lease_lost' : 'todo_terminal')
    if (crash < 3) expect(await codeOf(claimById(db, id, {}, WORKER))).toBe('invalid_state')
    await backdate(db, id, { available_at: 0 })
  }
  expect(await now(db, id)).toMatchObject({
    attempts: 15,
    lease_expirations: 3,
    error: { code: 'max_attempts_exceeded' },
  })
  expect(await verbs(id, 'failed')).toEqual(['reaper'])
  expect(await expireLeases(db)).toEqual([])
})

test('whoever goes on gets the checkpoint, the questions with their answers, and the attempts before', async () => {
  const { id } = await given(db, 'pending')
  const held = await claimed(id)
  await interrupt(db, held, WORKER, { ...parkedInput(1), checkpoint: { page: 7 } })
  const [asked] = await sql<{ id: string }>`SELECT id FROM interrupts WHERE todo_id = ${id}`
  await answer(db, String(asked?.id), OPERATOR, PLAIN_REPLY)
  expect(await claimById(db, id, {}, WORKER)).toMatchObject({
    checkpoint: { page: 7 },
    interrupts: [{ status: 'answered', mode: 'park', content: PLAIN_REPLY.content }],
    prior_attempts: [{ seq: 1, outcome: 'continued', disposition: 'requeued' }],
  })
})
