import { describe, expect, test } from 'vitest'
import type { Handler } from '#lib/sdk/sdk'
import { door } from '../api/door'
import { times } from '../support/numbers'
import { processes } from './processes'
import { abortOf, promised, staff } from './staff'

const api = door()
const { client, work } = staff(api)

const start = processes()

const SPENT_NOTHING = { failures: 0, lease_expirations: 0, error: null }
const FREE = { state: 'pending', ...SPENT_NOTHING, result: null }

test('a worker that is stopped gives back what its handlers cannot finish in their grace, and it costs nothing', async () => {
  const { enqueue, getTodo, listEvents } = await client()
  const { todo } = await enqueue({ queue: 'long', title: 'Long' })
  const begun = promised()
  const seen: string[] = []
  const running = await work({
    queues: ['long'],
    graceSeconds: 0.1,
    handler: async ({ signal, stopping }) => {
      begun.resolve()
      await abortOf(stopping)
      seen.push(`stopping, aborted: ${signal.aborted}`)
      const reason = await abortOf(signal)
      seen.push((reason as Error).name)
      return 'too late to count'
    },
  })
  await begun.promise
  await running.stop()
  expect(seen).toEqual(['stopping, aborted: false', 'Stopped'])
  expect((await getTodo({ id: todo.id })).todo).toMatchObject(FREE)
  expect((await listEvents({ id: todo.id })).events.at(-1)).toMatchObject({
    verb: 'released',
    reason: 'worker_stopping',
  })
})

test('a handler that finishes within its grace completes', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'quick', title: 'Quick' })
  const begun = promised()
  const running = await work({
    queues: ['quick'],
    graceSeconds: 10,
    handler: async ({ stopping }) => {
      begun.resolve()
      await abortOf(stopping)
      return 'just in time'
    },
  })
  await begun.promise
  await running.stop()
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({ state: 'completed', result: 'just in time' })
})

test('a handler that heeds nothing holds up neither the stop nor its todo', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'deaf', title: 'Deaf' })
  const begun = promised()
  const running = await work({
    queues: ['deaf'],
    handler: () => {
      begun.resolve()
      return new Promise(() => {})
    },
  })
  await begun.promise
  await running.stop()
  expect((await getTodo({ id: todo.id })).todo).toMatchObject(FREE)
})

test('a claim that is broken off by the stop strands nothing', async () => {
  const { enqueue, getTodo } = await client()
  const running = await work({ queues: ['broken-off'], handler: () => 'never run' })
  await running.line.untilSent('/claim', 1)
  // The server claims, and its answers are lost until the stop.
  running.line.loseAnswers('/claim', 3)
  const { todo } = await enqueue({ queue: 'broken-off', title: 'Claimed in vain' })
  const claimed = async () => (await getTodo({ id: todo.id })).todo.attempts > 0
  while (!(await claimed()));
  await running.stop()
  const after = await getTodo({ id: todo.id })
  expect(after.todo).toMatchObject(FREE)
  expect(after.attempts.every(({ outcome }) => outcome === 'released')).toBe(true)
})

test('a question that is open at the stop is parked, which spends nothing, and its answer is there for the next attempt', async () => {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'asking', title: 'Asking' })
  const handler = async ({ ask }: { ask(prompt: { title: string }): Promise<{ content: unknown }> }) =>
    (await ask({ title: 'Which one?' })).content as { answer: string }
  const first = await work({ queues: ['asking'], graceSeconds: 30, leaseSeconds: 1, handler })
  const { todo: asked } = await every.getTodo({ id: todo.id, wait_seconds: 20 })
  await first.stop()
  expect((await every.getTodo({ id: todo.id })).todo).toMatchObject({ state: 'input-required', owner: null })
  await every.answerInterrupt({ id: asked.open_interrupt_id ?? '', content: { answer: 'the first' } })
  const second = await work({ queues: ['asking'], handler })
  await second.line.until('/complete', 1)
  const { todo: done, interrupts } = await every.getTodo({ id: todo.id })
  expect(done).toMatchObject({
    state: 'completed',
    result: { answer: 'the first' },
    attempts: 2,
    failures: 0,
    lease_expirations: 0,
  })
  expect(interrupts).toHaveLength(1)
})

test('SIGTERM lets a worker process release what it works on, park what it asks, and exit with 0; nothing is spent', async () => {
  const { enqueue, getTodo, answerInterrupt } = await client()
  const { todo: work } = await enqueue({ queue: 'hands', title: 'In hand' })
  const { todo: question } = await enqueue({ queue: 'hands', title: 'Asks', payload: { asks: true } })
  const { token } = await api.agent(['work'])
  const first = start('hands', { url: api.url, token })
  await Promise.all([first.hears('begun'), first.hears('asks')])
  await getTodo({ id: question.id, wait_seconds: 20 })
  expect(await first.end('SIGTERM')).toBe(0)

  const released = await getTodo({ id: work.id })
  expect(released.todo).toMatchObject({ ...FREE, attempts: 1 })
  expect(released.attempts).toMatchObject([{ outcome: 'released' }])
  const parked = await getTodo({ id: question.id })
  expect(parked.todo).toMatchObject({ ...SPENT_NOTHING, state: 'input-required', owner: null })
  expect(parked.interrupts).toMatchObject([{ status: 'open', mode: 'park' }])

  await answerInterrupt({ id: parked.todo.open_interrupt_id ?? '', content: { answer: 'this' } })
  start('hands', { url: api.url, token })
  const { todo: done, interrupts } = await getTodo({ id: question.id, wait_seconds: 20 })
  expect(done).toMatchObject({ ...SPENT_NOTHING, state: 'completed', attempts: 2, result: { answer: 'this' } })
  expect(interrupts).toHaveLength(1)
})

test('a question whose opening was broken off by the stop is parked all the same', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'cut-off', title: 'Asks' })
  const running = await work({ queues: ['cut-off'], handler: async ({ ask }) => void (await ask({ title: 'Which?' })) })
  running.line.loseAnswers('/interrupt', 1000)
  await getTodo({ id: todo.id, wait_seconds: 20 })
  await running.stop()
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({
    ...SPENT_NOTHING,
    state: 'input-required',
    owner: null,
  })
})

describe('a worker that is stopped while a question it parks is on its way spends nothing', () => {
  const signals: AbortSignal[] = []
  const handler: Handler = async ({ park, checkpoint, signal }) => {
    signals.push(signal)
    const { content } = await park<{ answer: string }>({ title: 'Which?' }, { page: 7 })
    return { answer: content?.answer ?? null, checkpoint }
  }
  const DONE = {
    ...SPENT_NOTHING,
    state: 'completed',
    attempts: 2,
    result: { answer: 'this', checkpoint: { page: 7 } },
  }

  async function parking(queue: string) {
    const every = await client()
    const running = await work({ queues: [queue], handler })
    const quiet = () => expect(running.log.filter(({ level }) => level !== 'info')).toEqual([])
    const enqueue = async () => (await every.enqueue({ queue, title: 'Parks' })).todo.id
    return { every, running, enqueue, quiet }
  }

  test('before it has arrived: the todo is released, and the next worker asks', async () => {
    const { every, running, enqueue, quiet } = await parking('parks-not')
    const stopped = promised()
    running.line.before('/interrupt', () => {
      void running.stop().then(stopped.resolve)
      return abortOf(signals.at(-1) as AbortSignal)
    })
    const id = await enqueue()
    await stopped.promise
    const { todo, interrupts } = await every.getTodo({ id })
    expect(todo).toMatchObject({ ...FREE, attempts: 1 })
    expect(interrupts).toEqual([])
    quiet()
  })

  test('and never hears that it has: the question stays open, parked, and its answer goes on with the next worker', async () => {
    const { every, running, enqueue, quiet } = await parking('parks-unheard')
    running.line.loseAnswers('/interrupt', 1000)
    const id = await enqueue()
    await every.getTodo({ id, wait_seconds: 20 })
    await running.stop()
    const { todo, interrupts } = await every.getTodo({ id })
    expect(todo).toMatchObject({ ...SPENT_NOTHING, state: 'input-required', owner: null, checkpoint: { page: 7 } })
    expect(interrupts).toMatchObject([{ status: 'open', mode: 'park' }])
    quiet()
    await every.answerInterrupt({ id: todo.open_interrupt_id ?? '', content: { answer: 'this' } })
    const next = await work({ queues: ['parks-unheard'], handler })
    await next.line.until('/complete', 1)
    expect((await every.getTodo({ id })).todo).toMatchObject(DONE)
  })

  test('and it is answered before the worker has heard of its own asking', async () => {
    const { every, running, enqueue, quiet } = await parking('parks-answered')
    running.line.loseAnswers('/interrupt', 1000)
    const id = await enqueue()
    const { todo: asked } = await every.getTodo({ id, wait_seconds: 20 })
    const stopped = running.stop()
    await every.answerInterrupt({ id: asked.open_interrupt_id ?? '', content: { answer: 'this' } })
    await stopped
    expect((await every.getTodo({ id })).todo).toMatchObject({ ...SPENT_NOTHING, state: 'pending', attempts: 1 })
    quiet()
    const next = await work({ queues: ['parks-answered'], handler })
    await next.line.until('/complete', 1)
    const { todo, interrupts } = await every.getTodo({ id })
    expect(todo).toMatchObject(DONE)
    expect(interrupts).toHaveLength(1)
  })

  test('a held question that is answered between two tries to give it back is given back all the same', async () => {
    const every = await client()
    const { todo } = await every.enqueue({ queue: 'between', title: 'Asks' })
    const running = await work({
      queues: ['between'],
      handler: async ({ ask }) => void (await ask({ title: 'Which?' })),
    })
    // It never hears that its question is open, and so tries to release first; the answer comes before it tries to park.
    running.line.loseAnswers('/interrupt', 1000)
    const { todo: asked } = await every.getTodo({ id: todo.id, wait_seconds: 20 })
    const id = asked.open_interrupt_id ?? ''
    running.line.before('/park', () => every.answerInterrupt({ id, content: { answer: 'this' } }))
    await running.stop()
    expect((await every.getTodo({ id: todo.id })).todo).toMatchObject({ ...FREE, attempts: 1 })
    expect(running.log).toEqual([])
  })

  test('SIGTERM in the same moment as the answer to a held question: given back, or gone on with', {
    timeout: 120_000,
  }, async () => {
    const every = await client()
    const asks: Handler = async ({ ask }) => (await ask<{ answer: string }>({ title: 'Which?' })).content
    for (let n = 0; n < times(12, 100); n++) {
      const queue = `at-once-${n}`
      const { todo } = await every.enqueue({ queue, title: 'Asks' })
      const running = await work({ queues: [queue], handler: asks })
      const { todo: asked } = await every.getTodo({ id: todo.id, wait_seconds: 20 })
      const answering = every.answerInterrupt({ id: asked.open_interrupt_id ?? '', content: { answer: 'this' } })
      // At every moment from the sending of the answer to what the worker does with it.
      for (let turn = 0; turn < n % 12; turn++) await new Promise(setImmediate)
      await Promise.all([answering, running.stop()])
      const { todo: after } = await every.getTodo({ id: todo.id })
      expect(after).toMatchObject({ failures: 0, lease_expirations: 0, owner: null })
      expect(['pending', 'completed']).toContain(after.state)
    }
  })
})
