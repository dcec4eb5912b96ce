import { expect, test } from 'vitest'
import { door } from '../api/door'
import { staff } from './staff'

const api = door()
const { client, work } = staff(api)

test('a handler that parks ends there at no cost, and is entered anew with checkpoint and answer', async () => {
  const { enqueue, getTodo, answerInterrupt } = await client()
  const { todo } = await enqueue({ queue: 'parks', title: 'Parks' })
  const entered: unknown[] = []
  const { line } = await work({
    queues: ['parks'],
    handler: async ({ park, checkpoint, answers }) => {
      entered.push({ checkpoint, answers: answers.map(({ content }) => content) })
      const language = await park<{ answer: string }>({ title: 'Into which language?' }, { page: 7 })
      const leave = await park({
        kind: 'approval',
        title: 'Send it?',
        risk: 'high',
        proposal: { action: 'send', arguments: { to: 'ada@example.org' } },
      })
      return { language: language.content?.answer ?? null, leave: leave.action, why: leave.comment }
    },
  })
  const openQuestion = async () => (await getTodo({ id: todo.id, wait_seconds: 20 })).todo.open_interrupt_id ?? ''
  await answerInterrupt({ id: await openQuestion(), content: { answer: 'Portuguese' } })
  await expect.poll(async () => (await getTodo({ id: todo.id })).interrupts.length).toBe(2)
  const responder = await client()
  await responder.answerInterrupt({ id: await openQuestion(), comment: 'fine' })
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({
    state: 'completed',
    attempts: 3,
    failures: 0,
    lease_expirations: 0,
    result: { language: 'Portuguese', leave: 'accept', why: 'fine' },
  })
  expect(entered).toEqual([
    { checkpoint: null, answers: [] },
    { checkpoint: { page: 7 }, answers: [{ answer: 'Portuguese' }] },
    { checkpoint: { page: 7 }, answers: [{ answer: 'Portuguese' }, null] },
  ])
})

test('a parked question whose answer to the asking was lost is asked once', async () => {
  const { enqueue, getTodo, answerInterrupt } = await client()
  const { todo } = await enqueue({ queue: 'parks-twice', title: 'Parks' })
  const running = await work({
    queues: ['parks-twice'],
    handler: async ({ park }) => (await park({ title: 'Which?' })).content,
  })
  running.line.loseAnswers('/interrupt', 1)
  const { todo: asked, interrupts } = await getTodo({ id: todo.id, wait_seconds: 20 })
  expect(interrupts).toHaveLength(1)
  await answerInterrupt({ id: asked.open_interrupt_id ?? '', content: { answer: 'this' } })
  await running.line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).interrupts).toHaveLength(1)
})
