import { describe, expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { cancel } from '#lib/queue/cancel'
import { claim, claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { expireInterrupts, expireLeases } from '#lib/queue/expire'
import { heartbeat } from '#lib/queue/heartbeat'
import { findInterrupt, interrupt, type Question } from '#lib/queue/interrupt'
import { park, parkForHolder } from '#lib/queue/park'
import { endpoint, person } from '../support/callers'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const PARKED = { question: { mode: 'park' } } as const
const QUESTION: Question = { kind: 'input', mode: 'park', title: 'Which?', risk: 'low' }
const OTHER = endpoint('worker-2')

const events = (id: string) =>
  sql`SELECT verb, from_state, to_state, actor, data FROM todo_events WHERE todo_id = ${id} ORDER BY id`
const attempts = (id: string) =>
  sql`SELECT seq, outcome, disposition FROM todo_attempts WHERE todo_id = ${id} ORDER BY seq`
const lastEvent = async (id: string) => (await events(id)).at(-1)

const NOBODYS = { owner: null, owner_endpoint_id: null, lease_expires_at: null }
const COSTS_NOTHING = { failures: 0, lease_expirations: 0, wait_expirations: 0 }

describe('a question asked to be parked', () => {
  test('lets go of owner and lease and keeps the checkpoint, the attempt staying open', async () => {
    const { id, held } = await given(db, 'claimed')
    const asked = await interrupt(db, held, WORKER, { ...QUESTION, checkpoint: { page: 7 } })
    expect(asked).toMatchObject({
      created: true,
      interrupt: { mode: 'park', status: 'open', attempt_seq: 1, lease_epoch: 1 },
      todo: { state: 'input-required', open_interrupt_id: asked.interrupt.id, checkpoint: { page: 7 }, ...NOBODYS },
    })
    expect(asked.todo.result).toMatchObject({ interrupt: { id: asked.interrupt.id, title: 'Which?' } })
    expect(asked.todo.interrupted_at).toBe(asked.todo.updated_at)
    expect(await attempts(id)).toEqual([{ seq: 1, outcome: null, disposition: null }])
    expect(await lastEvent(id)).toMatchObject({
      verb: 'interrupted',
      actor: 'worker:worker-1/default',
      data: { interrupt_id: asked.interrupt.id, mode: 'park' },
    })
  })

  test('without a checkpoint leaves the one there was', async () => {
    const { held } = await given(db, 'claimed')
    await heartbeat(db, { ...held, checkpoint: { page: 3 } }, WORKER)
    expect((await interrupt(db, held, WORKER, QUESTION)).todo.checkpoint).toEqual({ page: 3 })
  })

  test('has no lease that could lapse, nor a holder who could be gone', async () => {
    const { id } = await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: 400 * DAY } })
    expect(await expireLeases(db)).toEqual([])
    expect(await expireInterrupts(db, { ttlSeconds: DAY })).toEqual([])
    expect((await now(db, id)).state).toBe('input-required')
  })

  test('answered can be claimed by anybody, who finds checkpoint, answer and how the attempt before ended', async () => {
    const asked = await given(db, 'input-required', { question: { mode: 'park', checkpoint: { page: 7 } } })
    const { todo } = await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
    expect(todo).toMatchObject({ state: 'pending', result: null, interrupted_at: null, ...NOBODYS, ...COSTS_NOTHING })
    expect(todo.available_at).toBe(todo.updated_at)
    expect(await attempts(asked.id)).toEqual([{ seq: 1, outcome: 'continued', disposition: 'requeued' }])
    expect(await claimById(db, asked.id, {}, OTHER)).toMatchObject({
      attempts: 2,
      lease_epoch: 2,
      owner: 'worker-2/default',
      checkpoint: { page: 7 },
      interrupts: [{ id: asked.interruptId, status: 'answered', content: PLAIN_REPLY.content }],
      prior_attempts: [{ seq: 1, outcome: 'continued', disposition: 'requeued' }],
    })
  })

  test('declined goes on too', async () => {
    const asked = await given(db, 'auth-required', PARKED)
    expect((await answer(db, asked.interruptId, OPERATOR, { action: 'decline' })).todo.state).toBe('pending')
    const [claimed] = await claim(db, { queues: ['main'] }, OTHER)
    expect(claimed).toMatchObject({ id: asked.id, interrupts: [{ action: 'decline' }] })
  })

  test('answered twice by the same person is answered once; by another it is refused', async () => {
    const asked = await given(db, 'input-required', PARKED)
    const first = await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
    expect(await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)).toEqual(first)
    expect(await codeOf(answer(db, asked.interruptId, person('else'), PLAIN_REPLY))).toBe('already_answered')
    expect((await events(asked.id)).map(({ verb }) => verb)).toEqual(['created', 'claimed', 'interrupted', 'answered'])
  })

  test('canceled with its todo takes no answer any more', async () => {
    const asked = await given(db, 'input-required', PARKED)
    expect(await cancel(db, asked.id, OPERATOR)).toMatchObject({ state: 'canceled', open_interrupt_id: null })
    expect(await attempts(asked.id)).toEqual([{ seq: 1, outcome: 'canceled', disposition: 'canceled' }])
    expect(await codeOf(answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY))).toBe('interrupt_closed')
  })

  test('may be answered years later', async () => {
    const asked = await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: 2000 * DAY } })
    expect((await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)).todo).toMatchObject({
      state: 'pending',
      ...COSTS_NOTHING,
    })
  })
})

describe('a holder that parks its question', () => {
  test('keeps question and clock, and pays nothing', async () => {
    const asked = await given(db, 'input-required', { ago: { interrupted_at: 600, wait_until: -90_000 } })
    const parked = await park(db, asked.held, WORKER, { page: 7 })
    const { interrupted_at, wait_until, result, state } = asked.todo
    expect(parked).toMatchObject({
      interrupt: { id: asked.interruptId, mode: 'park', status: 'open' },
      todo: { interrupted_at, wait_until, result, state, checkpoint: { page: 7 }, ...NOBODYS, ...COSTS_NOTHING },
    })
    expect(await attempts(asked.id)).toEqual([{ seq: 1, outcome: null, disposition: null }])
    expect(await lastEvent(asked.id)).toEqual({
      verb: 'parked',
      from_state: 'input-required',
      to_state: 'input-required',
      actor: 'worker:worker-1/default',
      data: { interrupt_id: asked.interruptId },
    })
  })

  test('may do so after its lease has lapsed', async () => {
    const asked = await given(db, 'auth-required', { ago: { lease_expires_at: 3600 } })
    expect((await park(db, asked.held, WORKER)).todo).toMatchObject({ state: 'auth-required', ...NOBODYS })
  })

  test('is refused once somebody has answered, and still holds', async () => {
    const asked = await given(db, 'input-required')
    const { todo } = await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
    expect(await codeOf(park(db, asked.held, WORKER))).toBe('invalid_state')
    expect(await now(db, asked.id)).toEqual(todo)
    expect((await complete(db, asked.held, WORKER, null)).state).toBe('completed')
  })

  test('of another epoch changes nothing', async () => {
    const asked = await given(db, 'input-required')
    for (const leaseEpoch of [0, 2, 2 ** 40]) {
      expect(await codeOf(park(db, { ...asked.held, leaseEpoch }, WORKER))).toBe('lease_lost')
    }
    expect(await now(db, asked.id)).toEqual(asked.todo)
  })

  test('no longer answers for it: its own answer, its beats and its result are refused', async () => {
    const asked = await given(db, 'input-required')
    const { todo } = await park(db, asked.held, WORKER)
    expect(await codeOf(heartbeat(db, asked.held, WORKER))).toBe('lease_lost')
    expect(await codeOf(complete(db, asked.held, WORKER, null))).toBe('lease_lost')
    expect(await now(db, asked.id)).toEqual(todo)
    expect(await sql`SELECT id FROM todo_events WHERE todo_id = ${asked.id} AND verb = 'fenced'`).toEqual([])
  })
})

describe('an operator that parks for a holder', () => {
  test('leaves the checkpoint, and is the one the log names', async () => {
    const asked = await given(db, 'input-required')
    await sql`UPDATE todos SET checkpoint = '{"page": 3}' WHERE id = ${asked.id}`
    const parked = await parkForHolder(db, asked.id, OPERATOR)
    expect(parked).toMatchObject({ interrupt: { mode: 'park' }, todo: { checkpoint: { page: 3 }, ...NOBODYS } })
    expect(await lastEvent(asked.id)).toMatchObject({ verb: 'parked', actor: 'user:operator-1' })
  })

  test('finds what was parked before as it is', async () => {
    const asked = await given(db, 'input-required', PARKED)
    expect((await parkForHolder(db, asked.id, OPERATOR)).todo).toEqual(asked.todo)
    expect((await lastEvent(asked.id))?.verb).toBe('interrupted')
  })

  test('has nothing to park where no question is open', async () => {
    for (const state of ['pending', 'claimed', 'waiting'] as const) {
      expect(await codeOf(parkForHolder(db, (await given(db, state)).id, OPERATOR))).toBe('invalid_state')
    }
    expect(await codeOf(parkForHolder(db, (await given(db, 'failed')).id, OPERATOR))).toBe('todo_terminal')
    const { id } = await given(db, 'input-required')
    expect(await codeOf(parkForHolder(db, id, endpoint('elsewhere', { queues: ['other'] })))).toBe('not_found')
  })
})

describe('a call whose answer was lost', () => {
  test('parked, asked again under its request id, is the question that was asked: open, answered or claimed on', async () => {
    const { id, held } = await given(db, 'claimed')
    const ask = () => interrupt(db, held, WORKER, { ...QUESTION, request_id: 'r1', checkpoint: { page: 7 } })
    const first = await ask()
    expect(await ask()).toEqual({ ...first, created: false })
    await answer(db, first.interrupt.id, OPERATOR, PLAIN_REPLY)
    expect(await ask()).toMatchObject({ created: false, interrupt: { status: 'answered' }, todo: { state: 'pending' } })
    await claimById(db, id, {}, OTHER)
    const claimed = await now(db, id)
    expect(await ask()).toMatchObject({ created: false, interrupt: { id: first.interrupt.id }, todo: claimed })
    expect((await events(id)).filter(({ verb }) => verb === 'interrupted')).toHaveLength(1)
  })

  test('an equal body is the open parked question; another body, and any once it is answered, has lost its lease', async () => {
    const { held } = await given(db, 'claimed')
    const first = await interrupt(db, held, WORKER, QUESTION)
    expect(await interrupt(db, held, WORKER, QUESTION)).toEqual({ ...first, created: false })
    expect(await codeOf(interrupt(db, held, WORKER, { ...QUESTION, title: 'What?' }))).toBe('lease_lost')
    await answer(db, first.interrupt.id, OPERATOR, PLAIN_REPLY)
    expect(await codeOf(interrupt(db, held, WORKER, QUESTION))).toBe('lease_lost')
  })

  test('a question held meanwhile is not the one that was to be parked', async () => {
    const { held } = await given(db, 'claimed')
    const first = await interrupt(db, held, WORKER, { ...QUESTION, mode: 'hold' })
    expect(await codeOf(interrupt(db, held, WORKER, QUESTION))).toBe('interrupt_open')
    await park(db, held, WORKER)
    expect((await interrupt(db, held, WORKER, { ...QUESTION, mode: 'hold' })).interrupt.id).toBe(first.interrupt.id)
  })

  test.each([true, false])('two asks to park at once are one question (request id: %s)', async (named) => {
    const { id, held } = await given(db, 'claimed')
    const more = named ? { request_id: 'r1' } : {}
    const asked = await Promise.all(
      Array.from({ length: 6 }, () => interrupt(db, held, WORKER, { ...QUESTION, ...more })),
    )
    expect(new Set(asked.map(({ interrupt }) => interrupt.id)).size).toBe(1)
    expect(asked.filter(({ created }) => created)).toHaveLength(1)
    expect((await events(id)).filter(({ verb }) => verb === 'interrupted')).toHaveLength(1)
  })

  test('parking again gets the stored row, and once somebody has answered that', async () => {
    const asked = await given(db, 'input-required')
    const first = await park(db, asked.held, WORKER, { page: 7 })
    expect(await park(db, asked.held, WORKER, { page: 8 })).toEqual(first)
    expect((await events(asked.id)).filter(({ verb }) => verb === 'parked')).toHaveLength(1)
    const answered = await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
    expect(await park(db, asked.held, WORKER)).toEqual(answered)
    await claimById(db, asked.id, {}, OTHER)
    expect(await park(db, asked.held, WORKER)).toMatchObject({ todo: { owner: 'worker-2/default' } })
    expect(await codeOf(park(db, { ...asked.held, endpointId: OTHER.id }, OTHER))).toBe('lease_lost')
  })

  test('a holder that parks what an operator has parked for it is told that it is', async () => {
    const asked = await given(db, 'input-required')
    const first = await parkForHolder(db, asked.id, OPERATOR)
    expect(await park(db, asked.held, WORKER, { page: 7 })).toEqual(first)
  })
})

test('the same endpoint goes on with what it parked under another epoch, and the old one is worth nothing', async () => {
  const asked = await given(db, 'input-required', PARKED)
  await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
  const { lease_epoch: leaseEpoch } = await claimById(db, asked.id, {}, WORKER)
  const before = await now(db, asked.id)
  expect(await codeOf(complete(db, asked.held, WORKER, null))).toBe('lease_lost')
  expect(await now(db, asked.id)).toEqual(before)
  expect((await complete(db, { ...asked.held, leaseEpoch }, WORKER, null)).state).toBe('completed')
})

test('a parked question counts as nobody’s in a limited queue', async () => {
  await sql`INSERT INTO queues (name, max_claimed) VALUES ('limited', 1)`
  const asked = await given(db, 'input-required', { todo: { queue: 'limited' } })
  const next = await given(db, 'pending', { todo: { queue: 'limited' } })
  expect(await claim(db, { queues: ['limited'] }, OTHER)).toEqual([])
  await park(db, asked.held, WORKER)
  expect(await claim(db, { queues: ['limited'] }, OTHER)).toMatchObject([{ id: next.id }])
})

test('what a question says is kept in the order it was said', async () => {
  const { held } = await given(db, 'claimed')
  const proposal = { action: 'pay', arguments: { to: 'b', amount: 1, because: { z: 1, a: 2 } } }
  const { interrupt: asked } = await interrupt(db, held, WORKER, { ...QUESTION, kind: 'approval', proposal })
  const stored = await findInterrupt(db, asked.id)
  expect(JSON.stringify(stored?.proposal?.arguments)).toBe(JSON.stringify(proposal.arguments))
})
