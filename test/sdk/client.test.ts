import { expect, test } from 'vitest'
import { connect } from '#lib/sdk/client'
import type { Operation } from '#lib/wire/operation'
import { OPERATIONS } from '#lib/wire/operations'
import { door } from '../api/door'
import { codeOf, refusalOf } from '../support/refusal'
import { createLine } from './line'

const api = door()

async function client(more: Partial<Parameters<typeof connect>[0]> = {}) {
  const { token } = await api.agent()
  return connect({ url: api.url, token, ...more })
}

test('every operation that answers in JSON is a method, and none takes both a query and a body', async () => {
  const plain = Object.entries<Operation>(OPERATIONS).filter(([, { media }]) => !media)
  expect(Object.keys(await client()).sort()).toEqual(plain.map(([name]) => name).sort())
  const both = Object.values<Operation>(OPERATIONS).filter(({ query, body }) => query && body)
  expect(both).toEqual([])
})

test('path, query and body go where the operation wants them', async () => {
  const { enqueue, enqueueMany, getTodo, listTodos, cancel } = await client()
  const { todo } = await enqueue({ queue: 'places', title: 'One' })
  await enqueueMany({ todos: [{ queue: 'places', title: 'Two' }] })
  await cancel({ id: todo.id, reason: 'not needed' })
  const { todos, counts } = await listTodos({ queue: 'places', state: ['canceled', 'pending'], limit: 1 })
  expect(todos).toHaveLength(1)
  expect(counts).toMatchObject({ canceled: { count: 1 }, pending: { count: 1 } })
  expect((await getTodo({ id: todo.id, wait_seconds: 1 })).todo.state).toBe('canceled')
})

test('what the server refuses is thrown as the same refusal, with its facts', async () => {
  const { complete, enqueue, enqueueMany } = await client()
  const { todo } = await enqueue({ queue: 'refused', title: 'Not claimed' })
  const refusal = await refusalOf(complete({ id: todo.id, lease_epoch: 1 }))
  expect(refusal).toMatchObject({ code: 'lease_lost', status: 409, facts: { state: 'pending' } })
  expect((await refusalOf(enqueueMany({ todos: [{ queue: 'NO', title: '' }] })))?.facts.errors).toMatchObject([
    { pointer: '/todos/0/queue' },
    { pointer: '/todos/0/title' },
  ])
  expect(await codeOf(connect({ url: api.url, token: 'sbk_none' }).listQueues())).toBe('unauthenticated')
})

test('a server that cannot be reached is unavailable, with the cause', async () => {
  const away = connect({ url: 'http://127.0.0.1:9', token: 't', retrySeconds: 0 })
  const refusal = await refusalOf(away.listQueues())
  expect(refusal).toMatchObject({ code: 'unavailable', message: expect.stringContaining('127.0.0.1:9') })
  expect(refusal?.cause).toBeInstanceOf(Error)
})

test('something that answers but is no Switchboard is told from one that is away', async () => {
  const line = createLine()
  line.intercept('/queues', [new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } })])
  const { listQueues } = await client({ fetch: line.fetch })
  expect(await refusalOf(listQueues())).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('is it a Switchboard'),
  })
  line.intercept('/queues', [new Response('no', { status: 302 }), new Response('gone', { status: 502 })])
  expect(await codeOf(listQueues())).toBe('invalid_request')
  expect(await codeOf(listQueues(undefined, { retrySeconds: 0 }))).toBe('unavailable')
})

test('a call ends with its signal, and when its time is over', async () => {
  const { claim } = await client()
  const stop = new AbortController()
  const waiting = claim({ queues: ['silent'], wait_seconds: 30 }, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(claim({}, { signal: stop.signal })).rejects.toThrow('enough')
  const never: typeof fetch = (_, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
  const slow = await client({ fetch: never, timeoutSeconds: 0.02, retrySeconds: 0 })
  expect(await refusalOf(slow.listQueues())).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('no answer in 0.02 s'),
  })
})

test('an address or a token that cannot be one is refused at once', () => {
  expect(() => connect({ url: 'localhost:4300', token: 't' })).toThrow(/must look like/)
  expect(() => connect({ url: 'http://127.0.0.1:4300', token: 'a b\n' })).toThrow(/token/)
})
