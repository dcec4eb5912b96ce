import { expect, test } from 'vitest'
import type { Db } from '#lib/db/connect'
import { answer, resume } from '#lib/queue/answer'
import { cancel } from '#lib/queue/cancel'
import { claim, claimById } from '#lib/queue/claim'
import { expireInterrupts, expireParked } from '#lib/queue/expire'
import { interrupt } from '#lib/queue/interrupt'
import { park, parkForHolder } from '#lib/queue/park'
import type { Interrupt } from '#lib/wire/interrupt'
import { person } from '../support/callers'
import { database } from '../support/database'
import { holding, overtaken } from '../support/gate'
import { type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

async function rounds(reduced: number, full: number, round: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; n < times(reduced, full); n++) await round(n)
}

/** Both at once; every other round the second starts first. */
async function both<One, Two>(n: number, one: () => Promise<One>, two: () => Promise<Two>): Promise<[One, Two]> {
  if (n % 2) return Promise.all([one(), two()])
  const second = two()
  return Promise.all([one(), second])
}

const stored = async (id: string) => (await sql<Interrupt>`SELECT * FROM interrupts WHERE id = ${id}`)[0] as Interrupt
const verbs = async (id: string) =>
  (await sql`SELECT verb FROM todo_events WHERE todo_id = ${id} ORDER BY id`).map(({ verb }) => verb).slice(3)

const PARKED = { question: { mode: 'park' } } as const
const SECOND = { kind: 'input', title: 'Second?', risk: 'low' } as const
const answers = ({ interruptId }: Given) => codeOf(answer(db, interruptId, OPERATOR, PLAIN_REPLY))

test('a late answer to the first question never answers the second, which its holder parks', () =>
  rounds(50, 500, async (n) => {
    const asked = await given(db, 'input-required')
    const moveOn = async () => {
      await resume(db, asked.held, WORKER, { interruptId: asked.interruptId, action: 'decline' })
      return interrupt(db, asked.held, WORKER, { ...SECOND, mode: n % 3 ? 'park' : 'hold' })
    }
    const [code, second] = await both(n, () => answers(asked), moveOn)
    const first = await stored(asked.interruptId)
    expect(code).toBe(first.status === 'answered' ? null : 'already_answered')
    expect(await now(db, asked.id)).toMatchObject({ state: 'input-required', open_interrupt_id: second.interrupt.id })
    expect(await stored(second.interrupt.id)).toMatchObject({ status: 'open', answered_by: null })
    expect(await claim(db, { queues: ['main'] }, WORKER)).toEqual([])
  }))

test('no todo is claimed with a question open, whoever parks, answers and claims at once', () =>
  rounds(50, 500, async (n) => {
    const asked = await given(db, 'input-required', n % 2 ? PARKED : {})
    const claims = Array.from({ length: 4 }, (_, at) => claim(db, { worker: `w${at}` }, WORKER))
    const [, code, claimed] = await Promise.all([
      codeOf(park(db, asked.held, WORKER)),
      answers(asked),
      Promise.all(claims),
    ])
    expect(code).toBeNull()
    for (const todo of claimed.flat()) {
      expect(todo).toMatchObject({ id: asked.id, open_interrupt_id: null, lease_epoch: 2 })
      expect(todo.interrupts).toMatchObject([{ status: 'answered' }])
    }
    expect(claimed.flat().length).toBeLessThanOrEqual(1)
    await cancel(db, asked.id, OPERATOR)
  }))

/** Parked and then answered, or answered and never parked. */
async function parkedOrNot(asked: Given, parkCode: string | null): Promise<void> {
  const parked = parkCode === null
  expect(await now(db, asked.id)).toMatchObject({
    state: parked ? 'pending' : 'claimed',
    owner: parked ? null : 'worker-1/default',
    open_interrupt_id: null,
    lease_expirations: 0,
    wait_expirations: 0,
  })
  expect(await verbs(asked.id)).toEqual(parked ? ['parked', 'answered'] : ['answered'])
  expect(await stored(asked.interruptId)).toMatchObject({ status: 'answered', mode: parked ? 'park' : 'hold' })
  expect(await sql`SELECT outcome FROM todo_attempts WHERE todo_id = ${asked.id}`).toEqual([
    { outcome: parked ? 'continued' : null },
  ])
  await cancel(db, asked.id, OPERATOR)
}

test('its holder parks and somebody answers: the answer always counts, and the holder knows whether it still holds', () =>
  rounds(40, 400, async (n) => {
    const asked = await given(db, 'input-required')
    const [code, parked] = await both(
      n,
      () => answers(asked),
      () => codeOf(park(db, asked.held, WORKER, { n })),
    )
    expect(code).toBeNull()
    expect([null, 'invalid_state']).toContain(parked)
    await parkedOrNot(asked, parked)
  }))

test('an operator parks and somebody answers: likewise', () =>
  rounds(40, 400, async (n) => {
    const asked = await given(db, 'input-required')
    const [code, parked] = await both(
      n,
      () => answers(asked),
      () => codeOf(parkForHolder(db, asked.id, OPERATOR)),
    )
    expect(code).toBeNull()
    await parkedOrNot(asked, parked)
  }))

test('holder and operator park at once: it is parked once, and both are told so', () =>
  rounds(20, 200, async (n) => {
    const asked = await given(db, 'input-required')
    const own = () => codeOf(park(db, asked.held, WORKER, { page: 7 }))
    expect(await both(n, own, () => codeOf(parkForHolder(db, asked.id, OPERATOR)))).toEqual([null, null])
    expect(await verbs(asked.id)).toEqual(['parked'])
  }))

test('a park and a cancel: the todo is canceled either way', () =>
  rounds(20, 200, async (n) => {
    const asked = await given(db, 'input-required')
    const parks = n % 4 < 2 ? () => park(db, asked.held, WORKER) : () => parkForHolder(db, asked.id, OPERATOR)
    const [code] = await both(
      n,
      () => codeOf(parks()),
      () => cancel(db, asked.id, OPERATOR),
    )
    expect([null, 'todo_terminal']).toContain(code)
    expect(await verbs(asked.id)).toEqual(code === null ? ['parked', 'canceled'] : ['canceled'])
    expect(await stored(asked.interruptId)).toMatchObject({ status: 'canceled' })
  }))

test('a park and the sweep of held questions: one of them happens', () =>
  rounds(30, 300, async (n) => {
    const asked = await given(db, 'input-required', { ago: { interrupted_at: DAY + 1 } })
    const sweep = () => expireInterrupts(db, { ttlSeconds: DAY })
    const [code, swept] = await both(n, () => codeOf(park(db, asked.held, WORKER)), sweep)
    expect(swept).toHaveLength(code === null ? 0 : 1)
    expect([null, 'lease_lost']).toContain(code)
    expect((await verbs(asked.id)).filter((verb) => verb !== 'fenced')).toEqual([code === null ? 'parked' : 'requeued'])
    await cancel(db, asked.id, OPERATOR)
  }))

test('an answer and the sweep of parked questions: one of them happens', () =>
  rounds(30, 300, async (n) => {
    const asked = await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: DAY + 1 } })
    const [code, swept] = await both(
      n,
      () => answers(asked),
      () => expireParked(db, { ttlSeconds: DAY }),
    )
    expect(swept).toHaveLength(code === null ? 0 : 1)
    expect([null, 'interrupt_closed']).toContain(code)
    expect(await now(db, asked.id)).toMatchObject({ state: 'pending', wait_expirations: code === null ? 0 : 1 })
    expect(await stored(asked.interruptId)).toMatchObject({ status: code === null ? 'answered' : 'expired' })
    expect(await verbs(asked.id)).toEqual([code === null ? 'answered' : 'requeued'])
    await cancel(db, asked.id, OPERATOR)
  }))

test('an answer and a cancel of a parked todo: it is canceled either way, and the answer stored or refused', () =>
  rounds(20, 300, async (n) => {
    const asked = await given(db, 'input-required', PARKED)
    const [code] = await both(
      n,
      () => answers(asked),
      () => cancel(db, asked.id, OPERATOR),
    )
    expect([null, 'interrupt_closed']).toContain(code)
    expect(await verbs(asked.id)).toEqual(code === null ? ['answered', 'canceled'] : ['canceled'])
    expect(await stored(asked.interruptId)).toMatchObject({ status: code === null ? 'answered' : 'canceled' })
  }))

test('of twenty answers to a parked question one wins, and it is claimable once', () =>
  rounds(3, 30, async () => {
    const asked = await given(db, 'input-required', PARKED)
    const people = Array.from({ length: 20 }, (_, n) => person(`person-${n}`))
    const codes = await Promise.all(people.map((who) => codeOf(answer(db, asked.interruptId, who, PLAIN_REPLY))))
    expect(codes.sort()).toEqual([...Array(19).fill('already_answered'), null])
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(db, {}, WORKER)))
    expect(claims.flat().map(({ id, lease_epoch }) => ({ id, lease_epoch }))).toEqual([
      { id: asked.id, lease_epoch: 2 },
    ])
  }))

const values = <Result>(settled: PromiseSettledResult<Result>[]): Result[] =>
  settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })

test('an operator’s park that waited while another worker asked anew parks that question, and none but that', async () => {
  const asked = await given(db, 'input-required')
  const passing = async (tx: Db) => {
    await park(tx, asked.held, WORKER)
    await answer(tx, asked.interruptId, OPERATOR, PLAIN_REPLY)
    const { lease_epoch: leaseEpoch } = await claimById(tx, asked.id, {}, WORKER)
    await interrupt(tx, { ...asked.held, leaseEpoch }, WORKER, SECOND)
  }
  const [parked] = values(await overtaken(db, passing, [() => parkForHolder(db, asked.id, OPERATOR)]))
  expect(parked).toMatchObject({ interrupt: { title: 'Second?', mode: 'park' }, todo: { owner: null } })
  expect(await now(db, asked.id)).toMatchObject({ open_interrupt_id: parked?.interrupt.id, lease_epoch: 2 })
})

test('an answer that waited while its question was parked counts, and one that waited for the sweep does not', async () => {
  const asked = await given(db, 'input-required')
  const parks = (tx: Db) => park(tx, asked.held, WORKER)
  expect(values(await overtaken(db, parks, [() => answers(asked)]))).toEqual([null])
  expect(await now(db, asked.id)).toMatchObject({ state: 'pending' })
  const old = await given(db, 'input-required', { ...PARKED, ago: { interrupted_at: DAY + 1 } })
  const sweeps = (tx: Db) => expireParked(tx, { ttlSeconds: DAY })
  expect(values(await overtaken(db, sweeps, [() => answers(old)]))).toEqual(['interrupt_closed'])
})

test('parks that all waited are one park', async () => {
  const asked = await given(db, 'input-required')
  const calls = Array.from({ length: 10 }, (_, n) => () => park(db, asked.held, WORKER, { n }))
  const parked = values(await overtaken(db, holding(asked.id), calls))
  expect(new Set(parked.map(({ todo }) => JSON.stringify(todo))).size).toBe(1)
  expect(await verbs(asked.id)).toEqual(['parked'])
})
