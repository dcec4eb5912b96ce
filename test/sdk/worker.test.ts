import { expect, test } from 'vitest'
import { Fatal } from '#lib/sdk/fatal'
import { door } from '../api/door'
import { promised, staff } from './staff'

const api = door()
const { client, work } = staff(api)

const titles = (count: number) => Array.from({ length: count }, (_, index) => `Work ${index}`)

test('a worker keeps as many todos busy as it may, claiming several at once, and completes each once', async () => {
  const { enqueueMany, listTodos } = await client()
  await enqueueMany({ todos: titles(23).map((title) => ({ queue: 'busy', title })) })
  const finished = promised()
  let busy = 0
  let most = 0
  let done = 0
  const { line } = await work({
    queues: ['busy'],
    concurrency: 5,
    handler: async ({ todo }) => {
      most = Math.max(most, ++busy)
      await new Promise(setImmediate)
      busy--
      if (++done === 23) finished.resolve()
      return { title: todo.title }
    },
  })
  await finished.promise
  await line.until('/complete', 23)
  expect(most).toBe(5)
  expect(line.to('/claim')[0]?.body).toMatchObject({ limit: 5, queues: ['busy'], wait_seconds: 25 })
  expect((await listTodos({ queue: 'busy' })).counts.completed?.count).toBe(23)
})

test('a worker that waits gets work as soon as there is some', async () => {
  const { enqueue, getTodo } = await client()
  const { line } = await work({ queues: ['idle'], handler: ({ todo }) => ({ echo: todo.payload }) })
  const { todo } = await enqueue({ queue: 'idle', title: 'At last', payload: { n: 1 } })
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({ state: 'completed', result: { echo: { n: 1 } } })
  expect(line.to('/claim').length).toBeLessThanOrEqual(2)
})

test('a claim whose answer was lost, however long the server was away, loses nothing', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'lost', title: 'Work' })
  const { line, log } = await work({ queues: ['lost'], handler: async () => 'done' })
  line.loseAnswers('/claim', 3)
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).attempts).toMatchObject([{ outcome: 'completed' }])
  expect(log.filter(({ level }) => level === 'warn')).toHaveLength(1)
})

test('what a handler throws fails its todo, with what it says about it', async () => {
  const { enqueue, getTodo } = await client()
  const thrown: Record<string, unknown> = {
    plain: new TypeError('It broke'),
    later: Object.assign(new Error('Too busy'), { code: 'busy', retryAfterSeconds: 0.2, data: { load: 9 } }),
    fatal: new Fatal('Never', { code: 'hopeless', data: { why: 'that' } }),
    odd: 'just a word\0',
  }
  const made = await Promise.all(Object.keys(thrown).map((title) => enqueue({ queue: 'thrown', title })))
  const { line } = await work({
    queues: ['thrown'],
    concurrency: 4,
    handler: ({ todo }) => {
      if (todo.attempts > 1) return 'went well'
      throw thrown[todo.title]
    },
  })
  await line.until('/fail', 4)
  const [plain, later, fatal, odd] = await Promise.all(
    made.map(async ({ todo }) => (await getTodo({ id: todo.id })).todo),
  )
  expect(plain).toMatchObject({ state: 'pending', failures: 1, error: { code: 'TypeError', message: 'It broke' } })
  expect(later?.error).toEqual({ code: 'busy', message: 'Too busy', data: { load: 9 } })
  expect(fatal).toMatchObject({ state: 'failed', error: { code: 'hopeless', message: 'Never', data: { why: 'that' } } })
  expect(odd).toMatchObject({ state: 'pending', error: { code: 'error', message: 'just a word' } })
  await line.until('/complete', 1)
  expect((await getTodo({ id: later?.id ?? '' })).todo).toMatchObject({ state: 'completed', attempts: 2 })
})

test('a result that cannot be kept fails the todo instead of running it again and again', async () => {
  const { enqueue, getTodo } = await client()
  const results: Record<string, () => unknown> = {
    big: () => 'x'.repeat(1_100_000),
    circle: () => {
      const circle: Record<string, unknown> = {}
      circle.self = circle
      return circle
    },
    nul: () => ({ text: 'a\0b' }),
  }
  const made = await Promise.all(Object.keys(results).map((title) => enqueue({ queue: 'unfit', title })))
  const { line } = await work({
    queues: ['unfit'],
    concurrency: 3,
    handler: ({ todo }) => results[todo.title]?.() as string,
  })
  await line.until('/fail', 3)
  for (const { todo } of made) {
    expect((await getTodo({ id: todo.id })).todo).toMatchObject({ state: 'failed', error: { code: 'result_refused' } })
  }
})

test('a worker with a token that does not count ends, and says why', async () => {
  const running = await work({ token: 'sbk_nobody', handler: () => {} })
  await expect(running.done).rejects.toMatchObject({ code: 'unauthenticated' })
})

test('a checkpoint and a progress report reach the server, and the next attempt begins with the checkpoint', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'steps', title: 'Two steps' })
  const found: unknown[] = []
  const { line } = await work({
    queues: ['steps'],
    leaseSeconds: 1,
    handler: async ({ checkpoint, save, progress }) => {
      found.push(checkpoint)
      if (checkpoint) return
      progress({ ratio: 7, message: 'half\0way' })
      await save({ step: 1 })
      await line.until('/heartbeat', 2)
      throw Object.assign(new Error('Once more'), { retryAfterSeconds: 0 })
    },
  })
  await line.until('/complete', 1)
  expect(found).toEqual([null, { step: 1 }])
  expect((await getTodo({ id: todo.id })).todo.progress).toEqual({ ratio: 1, message: 'halfway' })
})
