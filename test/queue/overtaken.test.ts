import { describe, expect, test } from 'vitest'
import type { Db } from '#lib/db/connect'
import { answer, resume } from '#lib/queue/answer'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { expireLeases } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { heartbeat } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { requeue } from '#lib/queue/requeue'
import { endpoint, person } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { holding, overtaken } from '../support/gate'
import { type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { invariants, keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { HOLDER_VERBS, OTHER_VERBS, PLAIN_REPLY } from '../support/verbs'

// A call that waits for a row's lock goes on with the row as it is by then, but sees nothing else that was added since.
const { db, sql } = database({ max: 30 })
keepsInvariants(db)

const values = <Result>(settled: PromiseSettledResult<Result>[]): Result[] =>
  settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })

const QUESTION = { kind: 'input', title: 'Which?', risk: 'low' } as const

const CHANGES: [string, (tx: Db, todo: Given) => Promise<unknown>][] = [
  ['asks', (tx, { held }) => interrupt(tx, held, WORKER, QUESTION)],
  ['completes', (tx, { held }) => complete(tx, held, WORKER, 'done')],
  ['fails', (tx, { held }) => fail(tx, held, WORKER, { error: { code: 'broken', message: 'It broke' } })],
  ['beats', (tx, { held }) => heartbeat(tx, held, WORKER)],
  [
    'releases and is followed by another',
    async (tx, { id, held }) => {
      await release(tx, held, WORKER)
      await claimById(tx, id, {}, endpoint('worker-2'))
    },
  ],
  [
    'asks, hears and asks again',
    async (tx, { held }) => {
      const { interrupt: first } = await interrupt(tx, held, WORKER, QUESTION)
      await resume(tx, held, WORKER, { interruptId: first.id, action: 'decline' })
      await interrupt(tx, held, WORKER, QUESTION)
    },
  ],
]

describe.each(CHANGES)('while its holder %s', (_, change) => {
  test('a cancel that waits ends whatever there is by then', async () => {
    const todo = await given(db, 'claimed')
    const [canceled] = await overtaken(db, (tx) => change(tx, todo), [() => cancel(db, todo.id, OPERATOR)])
    const { state } = await now(db, todo.id)
    expect(state).toBe(canceled?.status === 'fulfilled' ? 'canceled' : 'completed')
    expect(await invariants(db)).toEqual([])
  })

  test('every other verb that waits is carried out or refused as if it came after', async () => {
    for (const [verb, act] of Object.entries({ ...HOLDER_VERBS, ...OTHER_VERBS })) {
      const todo = await given(db, 'claimed')
      await overtaken(db, (tx) => change(tx, todo), [() => codeOf(act(db, todo))])
      expect({ verb, breaches: await invariants(db) }).toEqual({ verb, breaches: [] })
    }
  })
})

test('twenty answers that all waited: one wins', async () => {
  const asked = await given(db, 'input-required')
  const answers = Array.from(
    { length: 20 },
    (_, n) => () => codeOf(answer(db, asked.interruptId, person(`p${n}`), PLAIN_REPLY)),
  )
  const codes = values(await overtaken(db, holding(asked.id), answers))
  expect(codes.sort()).toEqual([...Array(19).fill('already_answered'), null])
})

test('the same complete many times over, all waiting: done once, and all are told so', async () => {
  const { id, held, todo } = await given(db, 'claimed')
  const calls = Array.from({ length: 10 }, (_, n) => () => complete(db, held, WORKER, n))
  const results = values(await overtaken(db, holding(id), calls)).map(({ result }) => result)
  expect(new Set(results).size).toBe(1)
  expect(await now(db, id)).toMatchObject({ state: 'completed', result: results[0], version: todo.version + 1 })
})

test('complete and cancel, both waiting: one of them happens, whichever came first', async () => {
  const { id, held } = await given(db, 'claimed')
  const work = () => codeOf(complete(db, held, WORKER, null))
  const end = () => codeOf(cancel(db, id, OPERATOR))
  expect(values(await overtaken(db, holding(id), [work, end]))).toEqual([null, 'todo_terminal'])
  const other = await given(db, 'claimed')
  const late = () => codeOf(complete(db, other.held, WORKER, null))
  const first = () => codeOf(cancel(db, other.id, OPERATOR))
  expect(values(await overtaken(db, holding(other.id), [first, late]))).toEqual([null, 'todo_terminal'])
})

test('two requeues that waited: one of them happens', async () => {
  const { id } = await given(db, 'failed')
  const call = () => codeOf(requeue(db, id, OPERATOR))
  expect(values(await overtaken(db, holding(id), [call, call]))).toEqual([null, 'invalid_state'])
  expect(await sql`SELECT count(*) AS requeued FROM todo_events WHERE todo_id = ${id} AND verb = 'requeued'`).toEqual([
    { requeued: 1 },
  ])
})

test('two claims by id that waited: one of them happens', async () => {
  const { id } = await given(db, 'pending')
  const call = (name: string) => () => codeOf(claimById(db, id, {}, endpoint(name)))
  expect(values(await overtaken(db, holding(id), [call('one'), call('two')]))).toEqual([null, 'invalid_state'])
})

test('a claim by id that waited while the todo was claimed and given back takes it as the next', async () => {
  const { id } = await given(db, 'pending')
  const passing = async (tx: Db) => {
    const { lease_epoch: leaseEpoch } = await claimById(tx, id, {}, WORKER)
    await release(tx, { id, leaseEpoch, endpointId: WORKER.id }, WORKER)
  }
  const [claimed] = values(await overtaken(db, passing, [() => claimById(db, id, {}, endpoint('next'))]))
  expect(claimed).toMatchObject({ attempts: 2, lease_epoch: 2, owner: 'next/default' })
})

test('a late answer that waited while its question was answered and another asked changes nothing', async () => {
  const asked = await given(db, 'input-required')
  const [code] = values(
    await overtaken(
      db,
      async (tx) => {
        await resume(tx, asked.held, WORKER, { interruptId: asked.interruptId, action: 'decline' })
        await interrupt(tx, asked.held, WORKER, QUESTION)
      },
      [() => codeOf(answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY))],
    ),
  )
  expect(code).toBe('already_answered')
  expect(await now(db, asked.id)).toMatchObject({ state: 'input-required' })
})

test('a beat that waited for the sweep is refused; a sweep never waits for a beat', async () => {
  const { id, held } = await given(db, 'claimed')
  await backdate(db, id, { lease_expires_at: 1 })
  const codes = await overtaken(db, (tx) => expireLeases(tx), [() => codeOf(heartbeat(db, held, WORKER))])
  expect(values(codes)).toEqual(['lease_lost'])
})
