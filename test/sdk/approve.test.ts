import { expect, test } from 'vitest'
import { Refusal } from '#lib/model/errors'
import type { Client } from '#lib/sdk/client'
import { argumentsHash } from '#lib/sdk/sdk'
import { door } from '../api/door'
import { backdate } from '../support/clock'
import { staff } from './staff'

const api = door()
const { client, work } = staff(api)

/** The todo's open question, once the so many-th was asked. */
async function question({ getTodo }: Client, id: string, number = 1) {
  await expect.poll(async () => (await getTodo({ id })).interrupts.length, { timeout: 10_000 }).toBe(number)
  const { todo, interrupts } = await getTodo({ id })
  return { id: todo.open_interrupt_id ?? '', asked: interrupts.at(-1), todo }
}

test('an approval says who gave it and why, and shows exactly what it is for', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'shows', title: 'Ships' })
  const { line } = await work({
    queues: ['shows'],
    handler: async ({ approve, answers, checkpoint }) => {
      const leave = await approve(
        { action: 'ship', arguments: { to: 'ada', parts: [1] }, title: 'Ship it to Ada?', risk: 'high', key: 'leave' },
        { checkpoint: { packed: true } },
      )
      const { action, comment, answeredBy, key, title } = leave
      return { action, comment, answeredBy, key, title, answers: answers.length, checkpoint }
    },
  })
  const { id, asked } = await question(every, todo.id)
  expect(asked).toMatchObject({
    kind: 'approval',
    mode: 'park',
    title: 'Ship it to Ada?',
    risk: 'high',
    proposal: {
      action: 'ship',
      arguments: { to: 'ada', parts: [1] },
      arguments_hash: await argumentsHash({ parts: [1], to: 'ada' }),
    },
  })
  const { interrupt } = await every.answerInterrupt({ id, comment: 'seen' })
  await line.until('/complete', 1)
  expect((await every.getTodo({ id: todo.id })).todo.result).toEqual({
    action: 'accept',
    comment: 'seen',
    answeredBy: interrupt.answered_by,
    key: 'leave',
    title: 'Ship it to Ada?',
    answers: 1,
    checkpoint: { packed: true },
  })
})

test('who declines is heard, with the comment', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'declines', title: 'Ships' })
  const { line } = await work({
    queues: ['declines'],
    handler: async ({ approve }) => {
      const { action, comment } = await approve({ action: 'ship' })
      return { action, comment }
    },
  })
  await every.answerInterrupt({ id: (await question(every, todo.id)).id, action: 'decline', comment: 'not on Fridays' })
  await line.until('/complete', 1)
  expect((await every.getTodo({ id: todo.id })).todo.result).toEqual({ action: 'decline', comment: 'not on Fridays' })
})

test.each([undefined, 'leave'])('other arguments are asked anew; key: %s', async (key) => {
  const every = await client()
  const queue = `changes-${key}`
  const { todo } = await every.enqueue({ queue, title: 'Pays' })
  let amount = 10
  const { line } = await work({
    queues: [queue],
    handler: async ({ approve }) => {
      const { interrupt } = await approve({ action: 'pay', arguments: { amount }, ...(key && { key }) })
      return interrupt.proposal?.arguments ?? null
    },
  })
  const first = await question(every, todo.id)
  amount = 1000
  await every.answerInterrupt({ id: first.id, comment: 'ten is fine' })
  const second = await question(every, todo.id, 2)
  expect(second.asked?.proposal?.arguments).toEqual({ amount: 1000 })
  await every.answerInterrupt({ id: second.id })
  await line.until('/complete', 1)
  expect((await every.getTodo({ id: todo.id })).todo).toMatchObject({ result: { amount: 1000 }, attempts: 3 })
})

test('held, the same worker goes on in the same attempt; a key that was used for other arguments asks anew', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'holds', title: 'Pays' })
  const { line } = await work({
    queues: ['holds'],
    handler: async ({ approve }) => {
      const approved = async (amount: number) =>
        (await approve({ action: 'pay', arguments: { amount }, key: 'leave' }, { hold: true })).interrupt.proposal
          ?.arguments ?? null
      return [await approved(1), await approved(1), await approved(2)]
    },
  })
  for (const number of [1, 2]) {
    const { id, todo: asked } = await question(every, todo.id, number)
    expect(asked.owner).not.toBeNull()
    await every.answerInterrupt({ id })
  }
  await line.until('/complete', 1)
  const { todo: done, interrupts } = await every.getTodo({ id: todo.id })
  expect(done).toMatchObject({ attempts: 1, result: [{ amount: 1 }, { amount: 1 }, { amount: 2 }] })
  expect(interrupts).toHaveLength(2)
})

test('what this attempt has asked and held is not lost by parking the same key', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'holds-then-parks', title: 'Asks' })
  const { line } = await work({
    queues: ['holds-then-parks'],
    handler: async ({ ask, park }) => {
      await ask({ title: 'Which?', key: 'which' })
      return (await park<{ answer: string }>({ title: 'Which?', key: 'which' })).content
    },
  })
  await every.answerInterrupt({ id: (await question(every, todo.id)).id, content: { answer: 'this' } })
  await line.until('/complete', 1)
  expect((await every.getTodo({ id: todo.id })).todo).toMatchObject({ attempts: 1, result: { answer: 'this' } })
})

test.each([
  ['other arguments', { arguments: { amount: 11 } }, 0],
  ['one that is too old', { arguments: { amount: 10 } }, 40 * 86_400],
])(
  'an effect is not begun under an approval of %s, and that fails the todo for good',
  async (what, options, secondsAgo) => {
    const every = await client()
    const queue = `mismatch-${secondsAgo}`
    const { todo } = await every.enqueue({ queue, title: `Pays: ${what}` })
    let runs = 0
    const thrown: unknown[] = []
    const { line } = await work({
      queues: [queue],
      handler: async ({ approve, effect, todo: mine }) => {
        const approval = await approve({ action: 'pay', arguments: { amount: 10 }, risk: 'critical' })
        await api.sql`UPDATE interrupts SET answered_at = now() - make_interval(secs => ${secondsAgo}) WHERE todo_id = ${mine.id}`
        return effect('pay', { idempotent: false, approval, ...options }, () => ++runs).catch((error: unknown) => {
          thrown.push(error)
          throw error
        })
      },
    })
    await every.answerInterrupt({ id: (await question(every, todo.id)).id })
    await line.until('/fail', 1)
    const { todo: failed, effects } = await every.getTodo({ id: todo.id })
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'approval_mismatch' }, failures: 1 })
    expect(thrown[0]).toBeInstanceOf(Refusal)
    expect(effects).toEqual([])
    expect(runs).toBe(0)
  },
)

test('an approval that is parked while the lease has lapsed is neither lost nor an expiration', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'lapses', title: 'Pays' })
  const { line } = await work({
    queues: ['lapses'],
    handler: async ({ approve, todo: mine }) => {
      if (mine.attempts === 1) await backdate(api.db, mine.id, { lease_expires_at: 1 })
      return (await approve({ action: 'pay' })).action
    },
  })
  await every.answerInterrupt({ id: (await question(every, todo.id)).id })
  await line.until('/complete', 1)
  expect((await every.getTodo({ id: todo.id })).todo).toMatchObject({ attempts: 2, lease_expirations: 0 })
})
