import { expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { claim, claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { enqueue } from '#lib/queue/enqueue'
import { interrupt } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { recentSettings } from '#lib/queue/settings'
import type { EndpointCaller } from '#lib/wire/caller'
import { endpoint } from '../support/callers'
import { database } from '../support/database'
import { given, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

/** What a claim is granted, and whether the lease ends just then. */
async function granted(queue: string, caller: EndpointCaller, leaseSeconds?: number): Promise<number> {
  await enqueue(db, [{ queue, title: 'Some work' }], OPERATOR)
  const [todo] = await claim(db, { queues: [queue], leaseSeconds }, caller)
  expect(Date.parse(todo?.lease_expires_at ?? '') - Date.parse(todo?.claimed_at ?? '')).toBe(
    1000 * (todo?.lease_seconds ?? 0),
  )
  return todo?.lease_seconds ?? 0
}

test('a lease is as long as the request says, else the endpoint, the queue, the setting', async () => {
  const patient = endpoint('patient', { defaultLeaseSeconds: 700 })
  expect(await granted('lease', WORKER)).toBe(300)
  await sql`INSERT INTO settings (key, value) VALUES ('default_lease_seconds', '120')`
  await recentSettings(db, true)
  expect(await granted('lease', WORKER)).toBe(120)
  await sql`UPDATE queues SET default_lease_seconds = 45 WHERE name = 'lease'`
  expect(await granted('lease', WORKER)).toBe(45)
  expect(await granted('lease', patient)).toBe(700)
  expect(await granted('lease', patient, 1)).toBe(1)
})

test('a claim repeated under its request id gives the same and nothing new', async () => {
  await enqueue(
    db,
    Array.from({ length: 5 }, (_, n) => ({ queue: 'repeat', title: `Work ${n}` })),
    OPERATOR,
  )
  const ask = () => claim(db, { queues: ['repeat'], limit: 2, requestId: 'r1' }, WORKER)
  const first = await ask()
  expect(await ask()).toEqual(first)
  expect(await claim(db, { queues: ['repeat'], requestId: 'r1' }, endpoint('other'))).toHaveLength(1)
  await release(db, heldBy(first[0]), WORKER)
  expect(await ask()).toEqual([first[1]])
})

test('once every attempt of it is closed, a repeated claim is a new one', async () => {
  await enqueue(
    db,
    [
      { queue: 'closed', title: 'One' },
      { queue: 'closed', title: 'Two' },
    ],
    OPERATOR,
  )
  const ask = () => claim(db, { queues: ['closed'], requestId: 'r2' }, WORKER)
  const [one] = await ask()
  await complete(db, heldBy(one), WORKER, null)
  const [two] = await ask()
  expect(two).toMatchObject({ title: 'Two', lease_epoch: 1 })
  expect(await ask()).toEqual([two])
})

test('a repeated claim by id gives the todo it claimed, and no other', async () => {
  const { id } = await given(db, 'pending', { todo: { queue: 'by-id' } })
  const other = await given(db, 'pending', { todo: { queue: 'by-id' } })
  const claimed = await claimById(db, id, { requestId: 'r3' }, WORKER)
  expect(await claimById(db, id, { requestId: 'r3' }, WORKER)).toEqual(claimed)
  await expect(claimById(db, other.id, { requestId: 'r3' }, WORKER)).rejects.toMatchObject({ code: 'invalid_state' })
})

test('two claims at once under one request id are one claim', async () => {
  await enqueue(
    db,
    Array.from({ length: 20 }, (_, n) => ({ queue: 'twins', title: `Work ${n}` })),
    OPERATOR,
  )
  const ask = () => claim(db, { queues: ['twins'], limit: 3, requestId: 'r4' }, WORKER)
  const [first, ...others] = await Promise.all([ask(), ask(), ask(), ask()])
  expect(first).toHaveLength(3)
  expect(others).toEqual([first, first, first])
})

test('whoever claims sees every question with its answer, and the last five attempts', async () => {
  const asked = await given(db, 'input-required', { todo: { queue: 'told' } })
  await answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
  await release(db, asked.held, WORKER)
  for (let n = 0; n < 6; n++) await release(db, heldBy(await claimById(db, asked.id, {}, WORKER)), WORKER)
  const todo = await claimById(db, asked.id, {}, WORKER)
  expect(todo.interrupts).toMatchObject([
    { id: asked.interruptId, status: 'answered', content: { answer: 'the first' } },
  ])
  expect(todo.prior_attempts.map(({ seq, outcome }) => [seq, outcome])).toEqual(
    [3, 4, 5, 6, 7].map((seq) => [seq, 'released']),
  )
})

test('a first claim repeated after its question was answered sees the answer', async () => {
  await given(db, 'pending', { todo: { queue: 'seen' } })
  const ask = () => claim(db, { queues: ['seen'], requestId: 'r5' }, WORKER)
  const held = heldBy((await ask())[0])
  const asked = await interrupt(db, held, WORKER, { kind: 'input', title: 'Which?', risk: 'low' })
  await answer(db, asked.interrupt.id, OPERATOR, PLAIN_REPLY)
  // Even where the clock is too coarse to tell the claim from what followed.
  await sql`UPDATE todos SET updated_at = claimed_at WHERE id = ${held.id}`
  expect(await ask()).toMatchObject([{ id: held.id, interrupts: [{ status: 'answered' }] }])
})

const heldBy = (todo: { id: string; lease_epoch: number } | undefined) => ({
  id: todo?.id ?? '',
  leaseEpoch: todo?.lease_epoch ?? 0,
  endpointId: WORKER.id,
})
