import { expect, test } from 'vitest'
import { expireLeases } from '#lib/queue/expire'
import { door } from '../api/door'
import { backdate } from '../support/clock'
import { abortOf, promised, staff } from './staff'

const api = door()
const { client, work } = staff(api)

test('a handler that says nothing for longer than its lease keeps it', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'silent', title: 'Long' })
  const { line } = await work({
    queues: ['silent'],
    leaseSeconds: 2,
    handler: async ({ signal }) => {
      await line.until('/heartbeat', 4)
      await expireLeases(api.db)
      return signal.aborted ? 'lost' : 'kept'
    },
  })
  await line.until('/complete', 1)
  const detail = await getTodo({ id: todo.id })
  expect(detail.todo).toMatchObject({ state: 'completed', result: 'kept', lease_expirations: 0, lease_epoch: 1 })
})

test('leases claimed together are kept by one call', async () => {
  const { enqueueMany } = await client()
  await enqueueMany({ todos: ['a', 'b', 'c'].map((title) => ({ queue: 'together', title })) })
  const { line } = await work({
    queues: ['together'],
    leaseSeconds: 2,
    concurrency: 3,
    handler: () => line.until('/batch/heartbeat', 2),
  })
  await line.until('/complete', 3)
  expect(line.to('/batch/heartbeat')[0]?.body.items).toHaveLength(3)
  expect(line.to('/heartbeat').length).toBeLessThanOrEqual(3)
})

test('cut off from the server, a handler is aborted before its lease can have ended, and is not heard any more', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'cut', title: 'Cut off' })
  const aborted = promised<{ reason: unknown; isOver: boolean }>()
  const { line, log } = await work({
    queues: ['cut'],
    leaseSeconds: 2,
    handler: async ({ signal }) => {
      line.cut()
      const reason = await abortOf(signal)
      const [row] = await api.sql<{
        over: boolean
      }>`SELECT lease_expires_at <= now() AS over FROM todos WHERE id = ${todo.id}`
      aborted.resolve({ reason, isOver: row?.over ?? true })
      return 'too late'
    },
  })
  expect(await aborted.promise).toMatchObject({ reason: { code: 'lease_lost' }, isOver: false })
  line.mend()
  await line.untilSent('/claim', 2)
  expect(line.to('/complete')).toEqual([])
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({ state: 'claimed', result: null })
  expect(log.map(({ message }) => message)).toContain('A lease was lost, its todo left alone')
})

test('a lease that was taken back aborts its handler, which neither completes nor fails', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'taken', title: 'Taken back' })
  const reasons: unknown[] = []
  const first = await work({
    queues: ['taken'],
    leaseSeconds: 1,
    handler: async ({ signal }) => {
      await backdate(api.db, todo.id, { lease_expires_at: 1 })
      await expireLeases(api.db)
      reasons.push(await abortOf(signal))
      throw new Error('nobody hears this')
    },
  })
  await first.line.untilSent('/claim', 2)
  expect(reasons).toMatchObject([{ code: 'lease_lost' }])
  expect([...first.line.to('/complete'), ...first.line.to('/fail')]).toEqual([])
  expect((await getTodo({ id: todo.id })).todo).toMatchObject({ lease_expirations: 1, failures: 0 })
})

test('a todo that was canceled aborts its handler', async () => {
  const { enqueue, cancel } = await client()
  const { todo } = await enqueue({ queue: 'canceled', title: 'Not needed' })
  const reason = promised<unknown>()
  await work({
    queues: ['canceled'],
    leaseSeconds: 1,
    handler: async ({ signal }) => {
      await cancel({ id: todo.id })
      reason.resolve(await abortOf(signal))
    },
  })
  expect(await reason.promise).toMatchObject({ code: 'todo_terminal' })
})

test('heartbeats that fail in passing come again in time', async () => {
  const { enqueue, getTodo } = await client()
  const { todo } = await enqueue({ queue: 'shaky', title: 'Shaky' })
  const { line } = await work({
    queues: ['shaky'],
    leaseSeconds: 2,
    handler: async () => {
      line.intercept('/heartbeat', [new Response('', { status: 503 }), new Response('', { status: 500 })])
      await line.until('/heartbeat', 5)
      return 'kept'
    },
  })
  await line.until('/complete', 1)
  expect((await getTodo({ id: todo.id })).todo.result).toBe('kept')
})
