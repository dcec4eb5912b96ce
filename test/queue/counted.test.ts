import { expect, test } from 'vitest'
import type { Db } from '#lib/db/connect'
import { exposition } from '#lib/ops/metrics'
import { answer, resume } from '#lib/queue/answer'
import { beginEffect } from '#lib/queue/begin-effect'
import { cancel } from '#lib/queue/cancel'
import { claim, claimById } from '#lib/queue/claim'
import { complete, completeMany } from '#lib/queue/complete'
import { enqueue } from '#lib/queue/enqueue'
import { expireInterrupts, expireLeases, expireParked } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { heartbeat } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import { park } from '#lib/queue/park'
import { release } from '#lib/queue/release'
import { reportEffect } from '#lib/queue/settle-effect'
import { database } from '../support/database'
import { given, OPERATOR, PAY, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db } = database()
keepsInvariants(db)

const COUNTED = /^switchboard_(\w+)_total\{(.*)\} (\d+)$/gm

/** Every counter that is not zero, with its labels: `name{label="value"}`. */
async function counters(): Promise<Record<string, number>> {
  const lines = [...(await exposition()).matchAll(COUNTED)]
  return Object.fromEntries(lines.map(([, name, labels, value]) => [`${name}{${labels}}`, Number(value)]))
}

/** How far each counter moved while `act` ran. */
async function moved(act: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await counters()
  await act()
  const after = Object.entries(await counters()).map(([name, value]) => [name, value - (before[name] ?? 0)] as const)
  return Object.fromEntries(after.filter(([, by]) => by !== 0))
}

const BROKEN = { code: 'broken', message: 'It broke' }
const QUESTION = { kind: 'input', title: 'Which?', risk: 'low' } as const

test('each transition moves its counters once', async () => {
  const pair = [
    { queue: 'q', title: 'One' },
    { queue: 'q', title: 'Two' },
  ]
  expect(await moved(() => enqueue(db, pair, OPERATOR))).toEqual({ 'todos_created{queue="q"}': 2 })
  expect(await moved(() => claim(db, { queues: ['q'], limit: 5 }, WORKER))).toEqual({ 'todos_claimed{queue="q"}': 2 })
})

test('how an attempt ended and how a todo ended are counted apart', async () => {
  const done = await given(db, 'claimed')
  expect(await moved(() => complete(db, done.held, WORKER, null))).toEqual({
    'todos_finished{queue="main",state="completed"}': 1,
    'todo_attempts_closed{queue="main",outcome="completed"}': 1,
  })
  const again = await given(db, 'claimed')
  expect(await moved(() => fail(db, again.held, WORKER, { error: BROKEN }))).toEqual({
    'todo_attempts_closed{queue="main",outcome="failed"}': 1,
  })
  const dead = await given(db, 'claimed')
  expect(await moved(() => fail(db, dead.held, WORKER, { error: BROKEN, retryable: false }))).toEqual({
    'todos_finished{queue="main",state="failed"}': 1,
    'todo_attempts_closed{queue="main",outcome="failed"}': 1,
  })
  const pending = await given(db, 'pending')
  expect(await moved(() => cancel(db, pending.id, OPERATOR))).toEqual({
    'todos_finished{queue="main",state="canceled"}': 1,
  })
})

test('questions are counted by how they closed', async () => {
  const { held } = await given(db, 'claimed')
  let asked = ''
  const ask = async () => {
    asked = (await interrupt(db, held, WORKER, QUESTION)).interrupt.id
  }
  expect(await moved(ask)).toEqual({ 'interrupts_opened{queue="main",kind="input"}': 1 })
  expect(await moved(() => answer(db, asked, OPERATOR, PLAIN_REPLY))).toEqual({
    'interrupts_closed{queue="main",kind="input",status="answered"}': 1,
  })
  await ask()
  expect(await moved(() => resume(db, held, WORKER, { interruptId: asked, action: 'decline' }))).toEqual({
    'interrupts_closed{queue="main",kind="input",status="resolved"}': 1,
  })
  await ask()
  expect(await moved(() => cancel(db, held.id, OPERATOR))).toEqual({
    'todos_finished{queue="main",state="canceled"}': 1,
    'todo_attempts_closed{queue="main",outcome="canceled"}': 1,
    'interrupts_closed{queue="main",kind="input",status="canceled"}': 1,
  })
})

test('a lost lease adds to one of the reaper’s counters, an unanswered question to both', async () => {
  await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
  expect(await moved(() => expireLeases(db))).toEqual({
    'todo_leases_expired{queue="main"}': 1,
    'todo_attempts_closed{queue="main",outcome="reaped"}': 1,
  })
  await given(db, 'auth-required', { ago: { interrupted_at: DAY + 1 } })
  expect(await moved(() => expireInterrupts(db, { ttlSeconds: DAY }))).toEqual({
    'todo_leases_expired{queue="main"}': 1,
    'interrupt_leases_reclaimed{queue="main"}': 1,
    'interrupts_closed{queue="main",kind="auth",status="expired"}': 1,
    'todo_attempts_closed{queue="main",outcome="reaped"}': 1,
  })
})

test('a parked question nobody answered adds to the counter of its own, and none of the reaper’s others', async () => {
  const parked = { mode: 'park' } as const
  await given(db, 'input-required', { question: parked, ago: { interrupted_at: DAY + 1 } })
  expect(await moved(() => expireParked(db, { ttlSeconds: DAY }))).toEqual({
    'parked_waits_expired{queue="main"}': 1,
    'interrupts_closed{queue="main",kind="input",status="expired"}': 1,
    'todo_attempts_closed{queue="main",outcome="expired"}': 1,
  })
  const cap = { todo: { max_attempts: 1 }, question: parked, ago: { interrupted_at: DAY + 1 } }
  await given(db, 'auth-required', cap)
  expect(await moved(() => expireParked(db, { ttlSeconds: DAY }))).toEqual({
    'parked_waits_expired{queue="main"}': 1,
    'todos_finished{queue="main",state="failed"}': 1,
    'interrupts_closed{queue="main",kind="auth",status="expired"}': 1,
    'todo_attempts_closed{queue="main",outcome="expired"}': 1,
  })
})

test('parking counts nothing, and the answer to a parked question closes the attempt', async () => {
  const asked = await given(db, 'input-required')
  expect(await moved(() => park(db, asked.held, WORKER))).toEqual({})
  expect(await moved(() => park(db, asked.held, WORKER))).toEqual({})
  expect(await moved(() => answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY))).toEqual({
    'interrupts_closed{queue="main",kind="input",status="answered"}': 1,
    'todo_attempts_closed{queue="main",outcome="continued"}': 1,
  })
})

test('a late word about an effect that was begun again is counted once', async () => {
  const { id, held } = await given(db, 'claimed', { effect: { idempotent: true } })
  await release(db, held, WORKER)
  const { lease_epoch: leaseEpoch } = await claimById(db, id, {}, WORKER)
  await beginEffect(db, { ...held, leaseEpoch }, WORKER, { ...PAY, idempotent: true })
  const late = () => codeOf(reportEffect(db, held, WORKER, { key: PAY.key, status: 'confirmed' }))
  expect(await moved(() => Promise.all([late(), late()]))).toEqual({ 'fenced_writes{queue="main"}': 1 })
  expect(await moved(late)).toEqual({})
})

test('a late write is counted once for its attempt', async () => {
  const lost = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
  await expireLeases(db)
  const late = async () => {
    await codeOf(complete(db, lost.held, WORKER, null))
    await codeOf(heartbeat(db, lost.held, WORKER))
  }
  expect(await moved(late)).toEqual({ 'fenced_writes{queue="main"}': 1 })
})

test('a repeat counts nothing', async () => {
  const { held } = await given(db, 'claimed')
  const asked = await interrupt(db, held, WORKER, QUESTION)
  expect(await moved(() => interrupt(db, held, WORKER, QUESTION))).toEqual({})
  await answer(db, asked.interrupt.id, OPERATOR, PLAIN_REPLY)
  expect(await moved(() => answer(db, asked.interrupt.id, OPERATOR, PLAIN_REPLY))).toEqual({})
  await release(db, held, WORKER)
  expect(await moved(() => release(db, held, WORKER))).toEqual({})
  const keyed = [{ queue: 'main', title: 'Once', idempotency_key: 'once' }]
  await enqueue(db, keyed, OPERATOR)
  expect(await moved(() => enqueue(db, keyed, OPERATOR))).toEqual({})
})

test('what is rolled back is not counted', async () => {
  const claimed = await given(db, 'claimed')
  const asking = await given(db, 'claimed')
  const lost = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
  await expireLeases(db)
  const everything = async (tx: Db) => {
    await enqueue(
      tx,
      [
        { queue: 'never', title: 'One' },
        { queue: 'never', title: 'Two' },
      ],
      OPERATOR,
    )
    await claim(tx, { queues: ['never'], limit: 5 }, WORKER)
    await completeMany(tx, [claimed.held], WORKER)
    await interrupt(tx, asking.held, WORKER, QUESTION)
    await codeOf(heartbeat(tx, lost.held, WORKER))
    throw new Error('rolled back')
  }
  expect(await moved(() => db.transaction(everything).catch(() => {}))).toEqual({})
})
