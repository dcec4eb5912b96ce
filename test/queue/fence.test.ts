import { describe, expect, test } from 'vitest'
import type { Db } from '#lib/db/connect'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { completeMany } from '#lib/queue/complete'
import { expireInterrupts, expireLeases } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { heartbeatMany } from '#lib/queue/heartbeat'
import { release } from '#lib/queue/release'
import { endpoint } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { DAY, HOLDER_VERBS, OTHER_VERBS } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const fenced = (id: string) =>
  sql`SELECT reason, actor, attempt_seq, lease_epoch FROM todo_events WHERE todo_id = ${id} AND verb = 'fenced'`

// What the log calls a verb that is a way to do another.
const CALLED: Record<string, string> = { interruptParked: 'interrupt', beginEffect: 'begin' }

const reaped = async (): Promise<Given> => {
  const lost = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
  await expireLeases(db)
  return lost
}

describe.each(Object.entries(HOLDER_VERBS))('%s under a lease that was reaped', (verb, act) => {
  test('changes nothing, and leaves one event', async () => {
    const lost = await reaped()
    const pending = await now(db, lost.id)
    expect(await codeOf(act(db, lost))).toBe('lease_lost')
    expect(await now(db, lost.id)).toEqual(pending)
    expect(await fenced(lost.id)).toEqual([
      { reason: `late_${CALLED[verb] ?? verb}`, actor: 'worker:worker-1/default', attempt_seq: 1, lease_epoch: 1 },
    ])
  })

  test('changes nothing for whoever has claimed it since', async () => {
    const lost = await reaped()
    await backdate(db, lost.id, { available_at: 0 })
    await claimById(db, lost.id, {}, endpoint('worker-2'))
    const claimed = await now(db, lost.id)
    expect(await codeOf(act(db, lost))).toBe('lease_lost')
    expect(await now(db, lost.id)).toEqual(claimed)
  })

  test('changes nothing when it is the same endpoint that has claimed it since', async () => {
    const lost = await reaped()
    await backdate(db, lost.id, { available_at: 0 })
    await claimById(db, lost.id, {}, WORKER)
    const claimed = await now(db, lost.id)
    expect(await codeOf(act(db, lost))).toBe('lease_lost')
    expect(await now(db, lost.id)).toEqual(claimed)
  })
})

test('however often a worker writes too late, its attempt has one event', async () => {
  const lost = await reaped()
  for (const act of Object.values(HOLDER_VERBS)) await codeOf(act(db, lost))
  await Promise.all(Object.values(HOLDER_VERBS).map((act) => codeOf(act(db, lost))))
  await heartbeatMany(db, [lost.held, lost.held], WORKER)
  await completeMany(db, [lost.held], WORKER)
  expect(await fenced(lost.id)).toHaveLength(1)
})

test('each attempt that was reaped has its own event', async () => {
  const first = await given(db, 'claimed', { leaseExpirations: 1 })
  await codeOf(HOLDER_VERBS.heartbeat(db, { ...first, held: { ...first.held, leaseEpoch: 1 } }))
  await backdate(db, first.id, { lease_expires_at: 1 })
  await expireLeases(db)
  await codeOf(HOLDER_VERBS.complete(db, first))
  expect(await fenced(first.id)).toMatchObject([{ lease_epoch: 1 }, { lease_epoch: 2 }])
})

test('a worker whose question nobody answered is fenced too, and told when the todo has ended', async () => {
  const lost = await given(db, 'input-required', { todo: { max_attempts: 1 }, ago: { interrupted_at: DAY + 1 } })
  await expireInterrupts(db, { ttlSeconds: DAY })
  expect(await codeOf(HOLDER_VERBS.complete(db, lost))).toBe('todo_terminal')
  expect(await fenced(lost.id)).toMatchObject([{ reason: 'late_complete' }])
})

const WITHOUT_A_TRACE: [string, (db: Db, held: Given) => Promise<unknown>][] = [
  ['canceled', (db, { id }) => cancel(db, id, OPERATOR)],
  ['released', (db, { held }) => release(db, held, WORKER)],
  ['failed', (db, { held }) => fail(db, held, WORKER, { error: { code: 'broken', message: 'It broke' } })],
]

test.each(WITHOUT_A_TRACE)('a late write to an attempt that was %s leaves no event', async (_, end) => {
  const held = await given(db, 'claimed')
  await end(db, held)
  expect(await codeOf(HOLDER_VERBS.complete(db, held))).toMatch(/lease_lost|todo_terminal/)
  expect(await fenced(held.id)).toEqual([])
})

test('an epoch that never was, however large, holds nothing', async () => {
  const { id, held, todo } = await given(db, 'claimed')
  for (const leaseEpoch of [0, 2, 2 ** 31, Number.MAX_SAFE_INTEGER]) {
    for (const act of Object.values(HOLDER_VERBS)) {
      expect(await codeOf(act(db, { id, todo, worker: WORKER, interruptId: '', held: { ...held, leaseEpoch } }))).toBe(
        'lease_lost',
      )
    }
  }
  expect(await now(db, id)).toEqual(todo)
  expect(await fenced(id)).toEqual([])
})

test('an endpoint that sees another queue is told of no todo', async () => {
  const { held } = await given(db, 'pending')
  const elsewhere = endpoint('elsewhere', { queues: ['other'] })
  const asking = {
    ...(await given(db, 'input-required')),
    worker: elsewhere,
    held: { ...held, endpointId: elsewhere.id },
  }
  for (const act of Object.values(HOLDER_VERBS)) expect(await codeOf(act(db, asking))).toBe('not_found')
  expect(await codeOf(OTHER_VERBS.claim(db, asking))).toBe('not_found')
})
