import { expect, test } from 'vitest'
import type { Child } from '#lib/wire/todo'
import { door } from '../api/door'
import { staff } from './staff'

const api = door()
const { client, work } = staff(api)

const SCOPES = ['work', 'enqueue'] as const

test('parts of the work are done by others, and come back in their order', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'whole', title: 'The whole' })
  let entered = 0
  const { line } = await work({
    scopes: SCOPES,
    queues: ['whole'],
    handler: async ({ children, checkpoint }) => {
      entered += 1
      const parts = await children(
        [1, 2, 3].map((n) => ({ queue: 'part', title: `Part ${n}`, payload: { n } })),
        {
          checkpoint: { asked: 3 },
        },
      )
      return { checkpoint, parts: parts.map(({ title, state, result }) => ({ title, state, result })) }
    },
  })
  // Whoever waits for what has ended already goes on at once.
  await line.until('/wait', 1)
  await work({
    queues: ['part'],
    concurrency: 3,
    handler: ({ todo: part }) => {
      const { n } = part.payload as { n: number }
      if (n === 2) throw Object.assign(new Error('No'), { retryable: false })
      return n * n
    },
  })
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({
    state: 'completed',
    attempts: 2,
    failures: 0,
    lease_expirations: 0,
    result: {
      checkpoint: { asked: 3 },
      parts: [
        { title: 'Part 1', state: 'completed', result: 1 },
        { title: 'Part 2', state: 'failed' },
        { title: 'Part 3', state: 'completed', result: 9 },
      ],
    },
  })
  expect(entered).toBe(2)
})

test('two that are the same are two, and made again they are the same two', async () => {
  const { enqueue, listTodos } = await client()
  const { todo } = await enqueue({ queue: 'twins', title: 'Twice' })
  const seen: Child[][] = []
  const { line } = await work({
    scopes: SCOPES,
    queues: ['twins'],
    handler: async ({ children, todo: { id } }) => {
      const made = await children([
        { queue: 'twin', title: 'Twin' },
        { queue: 'twin', title: 'Twin' },
      ])
      seen.push(made)
      const more = await children([{ queue: 'twin', title: 'Another', payload: id }])
      return made.length + more.length
    },
  })
  await line.until('/wait', 1)
  await work({ queues: ['twin'], concurrency: 2, handler: () => 'done' })
  await line.until('/complete', 1)
  const { todos } = await listTodos({ queue: 'twin' })
  expect(
    todos.map(({ parent_id, title }) => ({ parent_id, title })).sort((a, b) => (a.title < b.title ? -1 : 1)),
  ).toEqual([
    { parent_id: todo.id, title: 'Another' },
    { parent_id: todo.id, title: 'Twin' },
    { parent_id: todo.id, title: 'Twin' },
  ])
  expect(seen[1]?.map(({ id }) => id)).toEqual(seen[0]?.map(({ id }) => id))
})

test('what a handler uses is told, and over its budget the handler is stopped', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'spends', title: 'Spends', budget: { max_tokens: 100 } })
  const { log } = await work({
    queues: ['spends'],
    handler: async ({ usage, signal }) => {
      usage({ tokens: 60, cost_usd: 0.2 })
      usage({ tokens: 101 })
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      return 'never told'
    },
  })
  await expect
    .poll(async () => (await getTodo({ id: todo.id, wait_seconds: 5 })).todo.state, { timeout: 15_000 })
    .toBe('failed')
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({
    error: { code: 'budget_exceeded' },
    usage: { total: { tokens: 101, cost_usd: 0.2 } },
  })
  await expect.poll(() => log.map(({ message }) => message)).toContain('A lease was lost, its todo left alone')
})

test('what was used is told with the end too, in time for the record', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'quick', title: 'Quick' })
  const { line } = await work({ queues: ['quick'], handler: ({ usage }) => usage({ tokens: 7, cost_usd: 0.01 }) })
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({ usage: { total: { tokens: 7, cost_usd: 0.01 } } })
})
