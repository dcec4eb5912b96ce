import { describe, expect, test } from 'vitest'
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

test('an effect is not begun under an approval of other arguments, and that fails the todo for good', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'mismatch', title: 'Pays' })
  const thrown: unknown[] = []
  const { line } = await work({
    queues: ['mismatch'],
    handler: async ({ approve, effect }) => {
      const approval = await approve({ action: 'pay', arguments: { amount: 10 } })
      const other = { idempotent: false, approval, arguments: { amount: 11 } }
      return effect('pay', other, () => 'paid').catch((error: unknown) => {
        thrown.push(error)
        throw error
      })
    },
  })
  await every.answerInterrupt({ id: (await question(every, todo.id)).id })
  await line.until('/fail', 1)
  const { todo: failed, effects, interrupts } = await every.getTodo({ id: todo.id })
  expect(failed).toMatchObject({ state: 'failed', error: { code: 'approval_mismatch' }, failures: 1 })
  expect(thrown[0]).toBeInstanceOf(Refusal)
  expect(thrown[0]).toMatchObject({ facts: { mismatch: 'other_arguments' } })
  expect(interrupts).toHaveLength(1)
  expect(effects).toEqual([])
})

/** What makes an approval worthless after it was given; `use` does another effect under it. */
type Spoil = (approval: { id: string; approvedBy: string; use: () => Promise<unknown> }) => Promise<unknown>

describe.each([{ hold: false }, { hold: true }] as const)(
  'an approval that no longer counts (held: $hold)',
  ({ hold }) => {
    /** Pays once approved; `spoil` is what happens between the first approval and the payment. */
    async function paying(spoil: Spoil, key?: string) {
      const every = await client()
      const queue = `stale-${crypto.randomUUID()}`
      const { todo } = await every.enqueue({ queue, title: 'Pays' })
      const paid: unknown[] = []
      let isSpoilt = false
      const { line } = await work({
        queues: [queue],
        handler: async ({ approve, effect }) => {
          const proposal = { action: 'pay', arguments: { amount: 10 }, message: 'The rent.', ...(key && { key }) }
          const approval = await approve(proposal, hold ? { hold } : {})
          if (approval.action === 'decline') return { declined: approval.comment, key: approval.key }
          const options = { idempotent: false, approval, arguments: { amount: 10 } }
          const use = () => effect('fee', options, () => 'paid')
          if (!isSpoilt) await spoil({ id: todo.id, approvedBy: String(approval.answeredBy), use })
          isSpoilt = true
          return effect('pay', options, () => paid.push(1))
        },
      })
      return { every, id: todo.id, line, paid }
    }

    const tooOld: Spoil = ({ id }) =>
      api.sql`UPDATE interrupts SET answered_at = now() - interval '40 days' WHERE todo_id = ${id}`

    const STALE: [string, string, Spoil][] = [
      ['is too old for its risk', 'older than its risk allows', tooOld],
      [
        'came from somebody who may no longer give one',
        'may no longer',
        ({ approvedBy }) =>
          api.sql`UPDATE endpoints SET scopes = '{read}' WHERE name = ${approvedBy.replace('client:', '')}`,
      ],
      ['was used by another effect', 'another effect', ({ use }) => use()],
    ]

    test.each(STALE)('is asked for anew, and then counts: it %s', async (_, why, spoil) => {
      const { every, id, line, paid } = await paying(spoil)
      await every.answerInterrupt({ id: (await question(every, id)).id })
      const again = await question(every, id, 2)
      expect(again.todo.owner === null).toBe(!hold)
      expect(again.asked).toMatchObject({
        kind: 'approval',
        title: 'pay?',
        proposal: { action: 'pay', arguments: { amount: 10 } },
        message: expect.stringMatching(`no longer counts: .*${why}.*\n\nThe rent\\.`),
      })
      await (await client()).answerInterrupt({ id: again.id })
      await line.until('/complete', 1)
      const { todo, effects } = await every.getTodo({ id })
      expect(todo).toMatchObject({ state: 'completed', result: 1, failures: 0, attempts: hold ? 1 : 3 })
      expect(effects.find(({ key }) => key === 'pay')).toMatchObject({ status: 'confirmed', interrupt_id: again.id })
      expect(paid).toHaveLength(1)
    })

    test.each([undefined, 'leave'])('declined when asked anew is not done; key: %s', async (key) => {
      const { every, id, line, paid } = await paying(tooOld, key)
      await every.answerInterrupt({ id: (await question(every, id)).id })
      const again = await question(every, id, 2)
      await every.answerInterrupt({ id: again.id, action: 'decline', comment: 'too late' })
      await line.until(hold ? '/fail' : '/complete', 1)
      const { todo, effects } = await every.getTodo({ id })
      if (hold) expect(todo).toMatchObject({ state: 'failed', error: { code: 'approval_mismatch' } })
      else if (key) expect(todo.result).toEqual({ declined: 'too late', key })
      else expect(todo.result).toMatchObject({ declined: 'too late' })
      expect(effects).toEqual([])
      expect(paid).toEqual([])
    })
  },
)

test('an approval that never counts is asked for three times more, and then fails the todo for good', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'hopeless', title: 'Pays' })
  const { line } = await work({
    queues: ['hopeless'],
    handler: async ({ approve, effect }) => {
      const approval = await approve({ action: 'pay' })
      await api.sql`UPDATE interrupts SET answered_at = now() - interval '40 days' WHERE todo_id = ${todo.id}`
      return effect('pay', { idempotent: false, approval }, () => 'paid')
    },
  })
  for (const number of [1, 2, 3, 4]) await every.answerInterrupt({ id: (await question(every, todo.id, number)).id })
  await line.until('/fail', 1)
  const { todo: failed, interrupts, effects } = await every.getTodo({ id: todo.id })
  expect(failed).toMatchObject({ state: 'failed', error: { code: 'approval_mismatch' }, attempts: 5, failures: 1 })
  expect(interrupts).toHaveLength(4)
  expect(effects).toEqual([])
})

test('what was done under an approval is not asked for anew, however old that is when the handler comes back', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'done-before', title: 'Pays' })
  let runs = 0
  const { line } = await work({
    queues: ['done-before'],
    handler: async ({ approve, effect, todo: mine }) => {
      const approval = await approve({ action: 'pay', risk: 'critical' })
      const paid = await effect('pay', { idempotent: false, approval }, () => ++runs)
      if (mine.attempts > 2) return paid
      await api.sql`UPDATE interrupts SET answered_at = now() - interval '40 days' WHERE todo_id = ${mine.id}`
      throw Object.assign(new Error('after it was paid'), { retryAfterSeconds: 0 })
    },
  })
  await every.answerInterrupt({ id: (await question(every, todo.id)).id })
  await line.until('/complete', 1)
  const { todo: done, interrupts } = await every.getTodo({ id: todo.id })
  expect(done).toMatchObject({ state: 'completed', result: 1, attempts: 3 })
  expect(interrupts).toHaveLength(1)
})

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
