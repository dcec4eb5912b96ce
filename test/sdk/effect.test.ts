import { expect, test } from 'vitest'
import { expireLeases } from '#lib/queue/expire'
import { type Handler, NotDone } from '#lib/sdk/sdk'
import { door, PATIENT } from '../api/door'
import { backdate } from '../support/clock'
import { abortOf, staff } from './staff'

const api = door()
const { client, work } = staff(api)

test('a second entry gets the stored outcome, and what ran once does not run again', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'effect', title: 'Sends' })
  let runs = 0
  let entries = 0
  const { line } = await work({
    queues: ['effect'],
    handler: async ({ effect }) => {
      const sent = await effect('send', { idempotent: false, arguments: { to: 'ada' } }, () => ({ number: ++runs }))
      entries += 1
      if (entries === 1) throw Object.assign(new Error('after it was sent'), { retryAfterSeconds: 0 })
      return sent
    },
  })
  await line.until('/complete', 1)
  const { todo: done, effects } = await getTodo({ id: todo.id })
  expect(done).toMatchObject({ state: 'completed', attempts: 2, result: { number: 1 } })
  expect(effects).toMatchObject([{ key: 'send', status: 'confirmed', result: { number: 1 } }])
  expect(runs).toBe(1)
})

test.each([
  [true, 1],
  [false, 2],
])('in doubt a person is asked; that it happened: %s', async (happened, times) => {
  const { enqueue, getTodo, answerInterrupt } = await client()
  const queue = `doubt-${happened}`
  const { todo } = await enqueue({ queue, title: 'Sends' })
  let runs = 0
  const { line } = await work({
    queues: [queue],
    handler: async ({ effect }) =>
      effect('send', { idempotent: false }, () => {
        runs += 1
        if (runs === 1) throw Object.assign(new Error('the line broke off'), { retryAfterSeconds: 0 })
        return runs
      }),
  })
  const { todo: asked, interrupts } = await getTodo({ id: todo.id, wait_seconds: 20 })
  expect(asked).toMatchObject({ state: 'input-required', owner: null })
  expect(interrupts).toMatchObject([{ effect_key: 'send', risk: 'high', mode: 'park' }])
  await answerInterrupt({ id: asked.open_interrupt_id ?? '', content: { happened }, comment: 'I looked' })
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).effects).toMatchObject([{ status: 'confirmed' }])
  expect(runs).toBe(times)
})

test('where nobody can say, the todo fails and nothing is done again', async () => {
  const { enqueue, getTodo, answerInterrupt } = await client()
  const { todo } = await enqueue({ queue: 'unknown', title: 'Sends' })
  let runs = 0
  const { line } = await work({
    queues: ['unknown'],
    handler: async ({ effect }) =>
      effect('send', { idempotent: false }, () => {
        runs += 1
        throw Object.assign(new Error('the line broke off'), { retryAfterSeconds: 0 })
      }),
  })
  const { todo: asked } = await getTodo({ id: todo.id, wait_seconds: 20 })
  await answerInterrupt({ id: asked.open_interrupt_id ?? '', action: 'decline', comment: 'No idea' })
  await line.until('/fail', 2)
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({ state: 'failed', error: { code: 'effect_uncertain' } })
  expect(runs).toBe(1)
})

test('what was certainly not done is begun again without asking anybody; a lapsed lease is kept first', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'not-done', title: 'Sends' })
  let runs = 0
  const { line } = await work({
    queues: ['not-done'],
    handler: async ({ effect, todo: mine }) => {
      await backdate(api.db, mine.id, { lease_expires_at: 1 })
      return effect('send', { idempotent: false }, () => {
        runs += 1
        if (runs === 1) throw Object.assign(new NotDone('refused'), { retryAfterSeconds: 0 })
        return runs
      })
    },
  })
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({ state: 'completed', result: 2, attempts: 2 })
})

test('the outcome is told though the lease was lost meanwhile, and the next attempt finds it', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'overtaken', title: 'Sends' })
  let runs = 0
  const { line } = await work({
    queues: ['overtaken'],
    leaseSeconds: 3,
    handler: async ({ effect, signal, todo: mine }) =>
      effect('send', { idempotent: false }, async () => {
        runs += 1
        await backdate(api.db, mine.id, { lease_expires_at: 1 })
        await expireLeases(api.db)
        await abortOf(signal)
        await backdate(api.db, mine.id, { available_at: 1 })
        return { number: runs }
      }),
  })
  await line.until('/complete', 1)
  const { todo: done, effects } = await getTodo({ id: todo.id })
  expect(done).toMatchObject({ state: 'completed', attempts: 2, lease_expirations: 1, result: { number: 1 } })
  expect(effects).toMatchObject([{ status: 'confirmed', lease_epoch: 1, settled_by: null }])
  expect(runs).toBe(1)
})

test('a worker that was thought dead says how it went, and the question it left behind is closed by that', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'late-word', title: 'Sends' })
  const isAsked = async () => (await getTodo({ id: todo.id })).interrupts.length
  let runs = 0
  const handler: Handler = ({ effect, todo: mine }) =>
    effect('send', { idempotent: false }, async () => {
      runs += 1
      await backdate(api.db, mine.id, { lease_expires_at: 1 })
      await expireLeases(api.db)
      await backdate(api.db, mine.id, { available_at: 1 })
      await expect.poll(isAsked, PATIENT).toBe(1)
      return { number: runs }
    })
  for (const _ of [1, 2]) await work({ queues: ['late-word'], handler })
  await expect.poll(async () => (await getTodo({ id: todo.id })).todo.state, PATIENT).toBe('completed')
  const { todo: done, effects, interrupts } = await getTodo({ id: todo.id })
  expect(done).toMatchObject({ state: 'completed', attempts: 3, lease_expirations: 1, result: { number: 1 } })
  expect(effects).toMatchObject([{ status: 'confirmed', lease_epoch: 1, settled_by: null }])
  expect(interrupts).toMatchObject([{ status: 'resolved', effect_key: 'send', content: { happened: true } }])
  expect(runs).toBe(1)
})

test('what is known by the time it would be asked is not asked', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'known', title: 'Sends' })
  const begun = { id: todo.id, lease_epoch: 1, key: 'send' }
  const { line } = await work({
    queues: ['known'],
    handler: async ({ effect, client: own }) => {
      await own.beginEffect({ ...begun, idempotent: false })
      // Its word comes between the doubt and the question.
      line.before('/interrupt', () => own.settleEffect({ ...begun, status: 'confirmed', result: 7 }))
      return effect('send', { idempotent: false }, () => 8)
    },
  })
  await line.until('/complete', 1)
  const { todo: done, interrupts } = await getTodo({ id: todo.id })
  expect(done).toMatchObject({ state: 'completed', attempts: 1, result: 7 })
  expect(interrupts).toEqual([])
})

test('answers that are lost on the way make nothing happen twice', async () => {
  const { enqueue, getTodo } = await client()
  let runs = 0
  const { line } = await work({
    queues: ['lossy'],
    handler: ({ effect }) => effect('send', { idempotent: false, arguments: [1] }, () => ++runs),
  })
  line.loseAnswers('/effects', 2)
  line.loseAnswers('/effects/send', 2)
  const { todo } = await enqueue({ queue: 'lossy', title: 'Sends' })
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({ state: 'completed', attempts: 1, result: 1 })
  expect(line.to('/effects')).toHaveLength(3)
  expect(line.to('/effects/send')).toHaveLength(3)
  expect(runs).toBe(1)
})

test('NotDone with a cause throws that to the handler', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'causes', title: 'Sends' })
  const refused = new Error('mailbox full')
  const thrown: unknown[] = []
  const { line } = await work({
    queues: ['causes'],
    handler: async ({ effect }) => {
      const run = () => Promise.reject(new NotDone('refused', { cause: refused }))
      await effect('send', { idempotent: false }, run).catch((error: unknown) => thrown.push(error))
    },
  })
  await line.until('/complete', 1)
  expect(thrown).toEqual([refused])
  expect((await getTodo({ id: todo.id })).effects).toMatchObject([{ status: 'failed' }])
})

test('an outcome that cannot be kept leaves no doubt that it happened', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'unfit', title: 'Sends' })
  const { line } = await work({
    queues: ['unfit'],
    handler: ({ effect }) => effect('send', { idempotent: false }, () => 'x'.repeat(1_100_000)),
  })
  await line.until('/fail', 1)
  const { todo: failed, effects } = await getTodo({ id: todo.id })
  expect(failed).toMatchObject({ state: 'failed', error: { code: 'result_refused' } })
  expect(effects).toMatchObject([{ status: 'confirmed', result: null }])
})
