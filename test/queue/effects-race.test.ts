import { describe, expect, test } from 'vitest'
import type { Db } from '#lib/db/connect'
import { answer } from '#lib/queue/answer'
import { type Begun, beginEffect, type Declaration } from '#lib/queue/begin-effect'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { expireLeases } from '#lib/queue/expire'
import { interrupt } from '#lib/queue/interrupt'
import { park, parkForHolder } from '#lib/queue/park'
import { release } from '#lib/queue/release'
import { reportEffect, settleEffect } from '#lib/queue/settle-effect'
import { argumentsHash } from '#lib/wire/arguments-hash'
import type { PersonCaller } from '#lib/wire/caller'
import type { PromptSchema } from '#lib/wire/prompt-schema'
import { approver, endpoint, person } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { overtaken } from '../support/gate'
import { type Given, given, now, OPERATOR, PAY, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'

const { db, sql } = database({ max: 25 })
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

type Holding = Pick<Given, 'held' | 'worker'>

const begin = ({ held, worker }: Holding, said: Partial<Declaration> = {}) =>
  beginEffect(db, held, worker, { ...PAY, ...said })
const report = ({ held, worker }: Holding, status: 'confirmed' | 'failed') =>
  reportEffect(db, held, worker, { key: PAY.key, status })
const settle = (id: string, who: PersonCaller, happened: boolean) =>
  settleEffect(db, id, who, { key: PAY.key, happened, comment: 'Seen' })

const effect = async (id: string) => (await sql`SELECT * FROM effects WHERE todo_id = ${id}`)[0]
const verbs = async (id: string) =>
  (await sql`SELECT verb FROM todo_events WHERE todo_id = ${id} AND verb LIKE 'effect%' ORDER BY id`).map(
    ({ verb }) => verb,
  )

async function next({ id, held, worker }: Given): Promise<Holding> {
  await release(db, held, worker)
  const by = endpoint('worker-2')
  const { lease_epoch: leaseEpoch } = await claimById(db, id, {}, by)
  return { held: { id, leaseEpoch, endpointId: by.id }, worker: by }
}

describe('twenty begins at once', () => {
  const twenty = (todo: Given, said: (n: number) => Partial<Declaration>) =>
    Promise.allSettled(Array.from({ length: 20 }, (_, n) => begin(todo, said(n))))

  const fulfilled = (all: PromiseSettledResult<Begun>[]) =>
    all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))

  test('under one request id are one begin', () =>
    rounds(5, 50, async () => {
      const todo = await given(db, 'claimed')
      const all = fulfilled(await twenty(todo, () => ({ request_id: 'r1' })))
      expect(all).toHaveLength(20)
      expect(all.filter(({ begun }) => begun)).toHaveLength(1)
      expect(new Set(all.map(({ effect }) => JSON.stringify(effect))).size).toBe(1)
      expect(await verbs(todo.id)).toEqual(['effect_begun'])
    }))

  test.each(['none', 'another each'])('under %s are one begin and nineteen doubts', (how) =>
    rounds(5, 50, async () => {
      const todo = await given(db, 'claimed')
      const all = await twenty(todo, (n) => (how === 'none' ? {} : { request_id: `r${n}` }))
      expect(fulfilled(all)).toHaveLength(1)
      const codes = all.map((one) => one.status === 'rejected' && one.reason.code).filter(Boolean)
      expect(codes).toEqual(Array(19).fill('effect_uncertain'))
      expect(await verbs(todo.id)).toEqual(['effect_begun'])
    }),
  )
})

test('two effects under one approval at once: one of them begins', async () => {
  const boss = await approver(db)
  const arguments_hash = await argumentsHash({ amount: 5 })
  const proposal = { action: 'pay', arguments: { amount: 5 } }
  await rounds(20, 200, async () => {
    const todo = await given(db, 'claimed')
    const asked = await interrupt(db, todo.held, WORKER, { kind: 'approval', title: 'May I?', risk: 'low', proposal })
    await answer(db, asked.interrupt.id, boss, { action: 'accept' })
    const under = { arguments_hash, interrupt_id: asked.interrupt.id }
    const codes = await Promise.all(['one', 'two', 'three'].map((key) => codeOf(begin(todo, { key, ...under }))))
    expect(codes.sort()).toEqual(['approval_mismatch', 'approval_mismatch', null])
    expect(await sql`SELECT id FROM effects WHERE todo_id = ${todo.id}`).toHaveLength(1)
  })
})

test('a begin and a cancel: begun before the end, or not at all', () =>
  rounds(30, 300, async (n) => {
    const todo = await given(db, 'claimed')
    const [code] = await both(
      n,
      () => codeOf(begin(todo)),
      () => cancel(db, todo.id, OPERATOR),
    )
    expect([null, 'todo_terminal']).toContain(code)
    const events = await sql`SELECT verb FROM todo_events WHERE todo_id = ${todo.id} ORDER BY id DESC LIMIT 1`
    expect(events).toEqual([{ verb: 'canceled' }])
    expect((await effect(todo.id)) !== undefined).toBe(code === null)
  }))

test('a begin that waited while its lease was reaped begins nothing', async () => {
  const todo = await given(db, 'claimed')
  const reaps = async (tx: Db) => {
    await backdate(tx, todo.id, { lease_expires_at: 1 })
    await expireLeases(tx)
  }
  expect(await overtaken(db, reaps, [() => codeOf(begin(todo))])).toMatchObject([{ value: 'lease_lost' }])
  expect(await effect(todo.id)).toBeUndefined()
})

test('a begin that waited while its lease lapsed begins nothing', async () => {
  const todo = await given(db, 'claimed')
  const lapses = (tx: Db) => backdate(tx, todo.id, { lease_expires_at: 1 })
  expect(await overtaken(db, lapses, [() => codeOf(begin(todo))])).toMatchObject([{ value: 'invalid_state' }])
  expect(await effect(todo.id)).toBeUndefined()
})

test('a begin that waited while its approval was asked for and given finds it', async () => {
  const boss = await approver(db)
  const arguments_hash = await argumentsHash({ amount: 5 })
  const proposal = { action: 'pay', arguments: { amount: 5 } }
  const todo = await given(db, 'claimed')
  const under = { arguments_hash, interrupt_id: '' }
  const approves = async (tx: Db) => {
    const asked = await interrupt(tx, todo.held, WORKER, { kind: 'approval', title: 'May I?', risk: 'low', proposal })
    under.interrupt_id = asked.interrupt.id
    await answer(tx, asked.interrupt.id, boss, { action: 'accept' })
  }
  expect(await overtaken(db, approves, [() => begin(todo, under)])).toMatchObject([{ value: { begun: true } }])
})

test('a worker’s word and a person’s at once: the worker’s stands', () =>
  rounds(40, 400, async (n) => {
    const todo = await given(db, 'claimed', { effect: {} })
    const [word, guess] = await both(
      n,
      () => codeOf(report(todo, 'confirmed')),
      () => codeOf(settle(todo.id, OPERATOR, false)),
    )
    expect(word).toBeNull()
    expect([null, 'invalid_state']).toContain(guess)
    expect(await effect(todo.id)).toMatchObject({ status: 'confirmed', settled_by: null, comment: null })
    expect(await verbs(todo.id)).toHaveLength(guess === null ? 3 : 2)
  }))

test('a late word and the next begin: known in time, or begun again and the word refused', () =>
  rounds(40, 400, async (n) => {
    const todo = await given(db, 'claimed', { effect: { idempotent: true } })
    const later = await next(todo)
    const [word, begun] = await both(
      n,
      () => codeOf(report(todo, 'confirmed')),
      () => begin(later, { idempotent: true }),
    )
    expect(word).toBe(begun.begun ? 'lease_lost' : null)
    expect(await effect(todo.id)).toMatchObject(
      begun.begun ? { status: 'begun', lease_epoch: 2 } : { status: 'confirmed', lease_epoch: 1 },
    )
  }))

test('a person’s word and the next begin: no doubt is lifted by halves', () =>
  rounds(30, 300, async (n) => {
    const todo = await given(db, 'claimed', { effect: {} })
    const later = await next(todo)
    const happened = n % 4 < 2
    const [said, code] = await both(
      n,
      () => codeOf(settle(todo.id, OPERATOR, happened)),
      () => codeOf(begin(later)),
    )
    expect(said).toBeNull()
    expect([null, 'effect_uncertain']).toContain(code)
    const begunAgain = code === null && !happened
    expect(await effect(todo.id)).toMatchObject(
      begunAgain ? { status: 'begun', lease_epoch: 2 } : { status: happened ? 'confirmed' : 'failed', lease_epoch: 1 },
    )
  }))

test('ten people settle at once: one is believed', () =>
  rounds(5, 50, async () => {
    const todo = await given(db, 'claimed', { effect: {} })
    const said = await Promise.all(
      Array.from({ length: 10 }, (_, n) => codeOf(settle(todo.id, person(`p${n}`), n % 2 > 0))),
    )
    expect(said.sort()).toEqual([...Array(9).fill('invalid_state'), null])
    expect(await verbs(todo.id)).toEqual(['effect_begun', 'effect_settled'])
  }))

const schema: PromptSchema = { type: 'object', properties: { happened: { type: 'boolean' } }, required: ['happened'] }
const ASK = { kind: 'input', mode: 'park', title: 'Did it?', risk: 'low', effect_key: PAY.key, schema } as const

test('one answers the question, another settles on the page: one is believed, and the question is closed', () =>
  rounds(30, 300, async (n) => {
    const todo = await given(db, 'claimed', { effect: {} })
    const asked = await interrupt(db, todo.held, WORKER, ASK)
    const yes = { action: 'accept', content: { happened: true } } as const
    const answers = () => codeOf(answer(db, asked.interrupt.id, person('one'), yes))
    const codes = await both(n, answers, () => codeOf(settle(todo.id, person('two'), false)))
    expect(codes.filter((code) => code === null)).toHaveLength(1)
    const status = codes[0] === null ? 'confirmed' : 'failed'
    expect(await effect(todo.id)).toMatchObject({ status })
    expect(await now(db, todo.id)).toMatchObject({ state: 'pending', open_interrupt_id: null })
    expect(await verbs(todo.id)).toEqual(['effect_begun', 'effect_settled'])
  }))

/** The todo goes on, and nobody is asked what is known. */
async function settled(id: string, state: string): Promise<void> {
  expect(await now(db, id)).toMatchObject({ state, open_interrupt_id: null, interrupted_at: null })
  expect(await sql`SELECT id FROM interrupts WHERE todo_id = ${id} AND status = 'open'`).toEqual([])
}

test('its worker says how it went and a person answers: one of them closes the question, and the worker’s word stands', () =>
  rounds(40, 400, async (n) => {
    const todo = await given(db, 'claimed', { effect: {} })
    const asked = await interrupt(db, todo.held, WORKER, { ...ASK, mode: n % 4 < 2 ? 'park' : 'hold' })
    const no = { action: 'accept', content: { happened: false } } as const
    const [word, code] = await both(
      n,
      () => codeOf(report(todo, 'confirmed')),
      () => codeOf(answer(db, asked.interrupt.id, OPERATOR, no)),
    )
    expect(word).toBeNull()
    expect([null, 'already_answered']).toContain(code)
    expect(await effect(todo.id)).toMatchObject({ status: 'confirmed', settled_by: null })
    expect(await verbs(todo.id)).toHaveLength(code === null ? 3 : 2)
    await settled(todo.id, n % 4 < 2 ? 'pending' : 'claimed')
  }))

test.each([
  ['its worker says how it went', (todo: Given) => codeOf(report(todo, 'failed')), 'failed'],
  ['a person settles it', (todo: Given) => codeOf(settle(todo.id, OPERATOR, true)), 'confirmed'],
] as const)('%s while somebody begins to ask: not asked at all, or answered by that', (_, say, status) =>
  rounds(40, 400, async (n) => {
    const todo = await given(db, 'claimed', { effect: {} })
    const ask = () => codeOf(interrupt(db, todo.held, WORKER, { ...ASK, mode: n % 4 < 2 ? 'park' : 'hold' }))
    const [said, asked] = await both(n, () => say(todo), ask)
    expect(said).toBeNull()
    expect([null, 'validation_failed']).toContain(asked)
    expect(await effect(todo.id)).toMatchObject({ status })
    await settled(todo.id, asked === null && n % 4 < 2 ? 'pending' : 'claimed')
  }),
)

test('its worker says how it went while the question is parked, canceled or expires: the todo never stands still', () =>
  rounds(30, 300, async (n) => {
    const todo = await given(db, 'claimed', { effect: {} })
    await interrupt(db, todo.held, WORKER, { ...ASK, mode: 'hold' })
    const others = [
      () => park(db, todo.held, WORKER),
      () => parkForHolder(db, todo.id, OPERATOR),
      () => cancel(db, todo.id, OPERATOR),
    ]
    const [word] = await both(
      n,
      () => codeOf(report(todo, 'confirmed')),
      () => codeOf((others[n % 3] as () => Promise<unknown>)()),
    )
    expect(word).toBeNull()
    const { state } = await now(db, todo.id)
    expect(n % 3 === 2 ? ['canceled'] : ['claimed', 'pending']).toContain(state)
    await settled(todo.id, state)
  }))

/** The world outside, where an effect happens or not; and the steps of a worker, after any of which it may die. */
describe.each([false, true])(
  'a worker that dies at any step, and the one after it (may be done twice: %s)',
  (idempotent) => {
    const STEPS = ['claimed', 'begun', 'done', 'confirmed', 'completed'] as const
    let done = 0

    /** What a careful worker does; it dies after `last`. */
    async function works(todo: Holding, last: (typeof STEPS)[number]): Promise<void> {
      if (last === 'claimed') return
      const { begun } = await begin(todo, { idempotent, request_id: 'r1' })
      if (!begun || last === 'begun') return
      done += 1
      if (last === 'done') return
      await report(todo, 'confirmed')
    }

    test.each(STEPS)('dead once it was %s: done once, or at most twice where that does no harm', async (last) => {
      done = 0
      const first = await given(db, 'claimed')
      await works(first, last)
      await backdate(db, first.id, { lease_expires_at: 1 })
      await expireLeases(db)
      await backdate(db, first.id, { available_at: 0 })
      const { lease_epoch: leaseEpoch } = await claimById(db, first.id, {}, WORKER)
      const second = { held: { ...first.held, leaseEpoch }, worker: WORKER }
      const code = await codeOf(works(second, 'completed'))
      const isInDoubt = !idempotent && (last === 'begun' || last === 'done')
      expect(code).toBe(isInDoubt ? 'effect_uncertain' : null)
      if (isInDoubt) {
        // A person looks, and says what is so.
        await settle(first.id, OPERATOR, done === 1)
        await works(second, 'completed')
      }
      expect(done).toBe(idempotent && last === 'done' ? 2 : 1)
      expect(await effect(first.id)).toMatchObject({ status: 'confirmed' })
    })
  },
)
