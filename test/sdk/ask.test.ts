import { expect, test } from 'vitest'
import { expireInterrupts, expireLeases } from '#lib/queue/expire'
import type { Client } from '#lib/sdk/client'
import type { Answer, Prompt } from '#lib/sdk/prompt'
import { door } from '../api/door'
import { backdate } from '../support/clock'
import { promised, staff } from './staff'

const api = door()
const { client, work } = staff(api)

const FORM: Prompt = {
  title: 'Which one?',
  message: 'There are two.',
  schema: {
    type: 'object',
    properties: {
      which: {
        type: 'string',
        oneOf: [
          { const: 'a', title: 'This' },
          { const: 'b', title: 'That' },
        ],
      },
    },
    required: ['which'],
  },
}

/** The todo's open question, once there is one. */
async function questionOf({ getTodo }: Client, id: string) {
  const { todo } = await getTodo({ id, wait_seconds: 20 })
  return todo.open_interrupt_id ?? ''
}

test('a handler asks, waits and goes on with the answer, under the same lease', async () => {
  const { enqueue, answerInterrupt, getTodo, ...rest } = await client()
  const { todo } = await enqueue({ queue: 'asks', title: 'Asks' })
  const { line } = await work({
    queues: ['asks'],
    leaseSeconds: 1,
    handler: async ({ ask }) => {
      const answer = await ask<{ which: string }>(FORM)
      return answer.action === 'accept' ? { chosen: answer.content.which, comment: answer.comment } : 'declined'
    },
  })
  const id = await questionOf({ getTodo, ...rest } as Client, todo.id)
  // Longer than the lease: nothing runs down while a question is open.
  await backdate(api.db, todo.id, { lease_expires_at: 60 })
  expect(await expireLeases(api.db)).toEqual([])
  await answerInterrupt({ id, content: { which: 'b' }, comment: 'since it is newer' })
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({
    state: 'completed',
    attempts: 1,
    result: { chosen: 'b', comment: 'since it is newer' },
  })
})

test('no heartbeat is sent while a question is open, and one before its answer counts', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'rests', title: 'Rests' })
  const { line } = await work({
    queues: ['rests'],
    leaseSeconds: 1,
    handler: async ({ ask }) => void (await ask(FORM)),
  })
  const id = await questionOf(every, todo.id)
  const before = line.to('/heartbeat').length
  await every.answerInterrupt({ id, content: { which: 'a' } })
  await line.until('/complete', 1)
  expect(before).toBe(0)
  expect(line.to('/heartbeat').length).toBeGreaterThanOrEqual(1)
})

test('a declined question is an answer too', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'declined', title: 'Declined' })
  const heard = promised<Answer>()
  await work({ queues: ['declined'], handler: async ({ ask }) => heard.resolve(await ask(FORM)) })
  await every.answerInterrupt({ id: await questionOf(every, todo.id), action: 'decline', comment: 'neither' })
  expect(await heard.promise).toMatchObject({ action: 'decline', content: null, comment: 'neither' })
})

test('what an earlier attempt asked and had answered is not asked again: by key, else by equal words, each in its turn', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'again', title: 'Asks four times', max_attempts: 9 })
  const heard: unknown[][] = []
  const { line } = await work({
    queues: ['again'],
    handler: async ({ ask, todo: { attempts } }) => {
      const content = async (prompt: Prompt) => (await ask(prompt)).content?.which
      const keyed = { ...FORM, title: `Attempt ${attempts} asks`, key: 'first' }
      heard.push([
        await content(keyed),
        await content(FORM),
        await content({ ...FORM, risk: 'medium' }),
        await content(keyed),
      ])
      if (attempts === 1) throw Object.assign(new Error('Once more'), { retryAfterSeconds: 0 })
    },
  })
  for (const which of ['a', 'b', 'a']) {
    const id = await questionOf(every, todo.id)
    await every.answerInterrupt({ id, content: { which } })
    await every.getInterrupt({ id, wait_seconds: 5 })
    // The next look must not see this one as still open.
    await line.until('/heartbeat', ['a', 'b', 'a'].indexOf(which) + 1)
  }
  await line.until('/complete', 1)
  expect(heard).toEqual([
    ['a', 'b', 'a', 'a'],
    ['a', 'b', 'a', 'a'],
  ])
  expect((await every.getTodo({ id: todo.id })).interrupts).toHaveLength(3)
})

test('a question that nobody answered in time aborts the handler, and its todo goes back', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'expires', title: 'Expires' })
  const reason = promised<unknown>()
  const { line } = await work({
    queues: ['expires'],
    handler: async ({ ask, signal, todo: { attempts } }) => {
      if (attempts > 1) return 'without an answer'
      await ask(FORM).catch(() => {})
      reason.resolve(signal.reason)
      return 'not heard'
    },
  })
  await questionOf(every, todo.id)
  await backdate(api.db, todo.id, { interrupted_at: 90_000 })
  await expireInterrupts(api.db, { ttlSeconds: 86_400 })
  expect(await reason.promise).toMatchObject({ code: 'interrupt_closed', facts: { status: 'expired' } })
  await line.until('/complete', 1)
  expect((await every.getTodo({ id: todo.id })).todo).toMatchObject({
    result: 'without an answer',
    lease_expirations: 1,
  })
})

test('a question the server refuses is thrown to the handler', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'refused', title: 'Refused' })
  const { line } = await work({ queues: ['refused'], handler: async ({ ask }) => void (await ask({ title: '' })) })
  await line.until('/fail', 1)
  expect((await every.getTodo({ id: todo.id })).todo.error).toMatchObject({ code: 'validation_failed' })
})

test('answers and server outages may cross: the worker goes on once it is back', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'crossed', title: 'Crossed' })
  const { line } = await work({
    queues: ['crossed'],
    leaseSeconds: 5,
    handler: async ({ ask }) => (await ask<{ which: string }>(FORM)).content?.which ?? null,
  })
  line.loseAnswers('/interrupt', 1)
  const id = await questionOf(every, todo.id)
  line.loseAnswers(`/interrupts/${id}`, 2)
  await every.answerInterrupt({ id, content: { which: 'a' } })
  await line.until('/complete', 1)
  expect((await every.getTodo({ id: todo.id })).todo).toMatchObject({ state: 'completed', result: 'a', attempts: 1 })
})
