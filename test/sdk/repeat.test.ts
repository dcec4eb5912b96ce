import { expect, test } from 'vitest'
import { connect } from '#lib/sdk/client'
import { door } from '../api/door'
import { codeOf } from '../support/refusal'
import { createLine } from './line'

const api = door()

async function disturbed(queue: string) {
  const { token } = await api.agent()
  const line = createLine()
  const client = connect({ url: api.url, token, fetch: line.fetch })
  const { todo } = await client.enqueue({ queue, title: 'Some work' })
  return { client, line, todo }
}

/** One claimed todo, by a client whose line can be disturbed. */
async function holding(queue: string) {
  const { client, line } = await disturbed(queue)
  const { todos } = await client.claim({ queues: [queue] })
  const [todo] = todos as [(typeof todos)[number]]
  return { client, line, held: { id: todo.id, lease_epoch: todo.lease_epoch } }
}

const eventsOf = async (client: ReturnType<typeof connect>, id: string) =>
  (await client.listEvents({ id })).events.map(({ verb }) => verb)

test('a claim whose answer was lost gives the same todos again, and no others', async () => {
  const { client, line, todo } = await disturbed('claimed')
  await client.enqueue({ queue: 'claimed', title: 'Other work' })
  line.loseAnswers('/claim', 2)
  const { todos } = await client.claim({ queues: ['claimed'] })
  expect(todos).toMatchObject([{ id: todo.id, attempts: 1 }])
  expect(new Set(line.to('/claim').map(({ body }) => body.request_id)).size).toBe(1)
  expect(line.to('/claim')).toHaveLength(3)
})

test('a completion whose answer was lost is done once and answered', async () => {
  const { client, line, held } = await holding('completed')
  line.loseAnswers('/complete', 1)
  expect((await client.complete({ ...held, result: { ok: true } })).todo).toMatchObject({ state: 'completed' })
  expect(line.to('/complete')).toHaveLength(2)
  expect(await eventsOf(client, held.id)).toEqual(['created', 'claimed', 'completed'])
})

test('a failure, a release and a heartbeat are repeated likewise', async () => {
  const failed = await holding('failed')
  failed.line.loseAnswers('/fail', 1)
  const { todo } = await failed.client.fail({ ...failed.held, error: { code: 'broken', message: 'It broke' } })
  expect(todo).toMatchObject({ state: 'pending', failures: 1 })
  const released = await holding('released')
  released.line.loseAnswers('/heartbeat', 1)
  expect(await released.client.heartbeat(released.held)).toMatchObject({ state: 'claimed' })
  released.line.loseAnswers('/release', 1)
  expect((await released.client.release(released.held)).todo).toMatchObject({ state: 'pending', attempts: 1 })
})

test('a question whose answer was lost is asked once', async () => {
  const { client, line, held } = await holding('asked')
  line.loseAnswers('/interrupt', 1)
  const { interrupt } = await client.interrupt({ ...held, title: 'Which one?' })
  expect(interrupt?.status).toBe('open')
  expect((await client.getTodo({ id: held.id })).interrupts).toHaveLength(1)
  line.loseAnswers('/answer', 1)
  const answered = await client.answerInterrupt({ id: String(interrupt?.id), content: { answer: 'the first' } })
  expect(answered.interrupt).toMatchObject({ status: 'answered', content: { answer: 'the first' } })
})

test('a todo with an idempotency key is made once; without one it is not sent again', async () => {
  const { client, line } = await disturbed('made')
  line.loseAnswers('/todos', 1)
  expect(await client.enqueue({ queue: 'made', title: 'Keyed', idempotency_key: 'k' })).toMatchObject({
    created: false,
  })
  line.loseAnswers('/todos', 1)
  expect(await codeOf(client.enqueue({ queue: 'made', title: 'Unkeyed' }))).toBe('unavailable')
  line.loseAnswers('/batch', 1)
  const mixed = [
    { queue: 'made', title: 'Keyed', idempotency_key: 'm' },
    { queue: 'made', title: 'Not' },
  ]
  expect(await codeOf(client.enqueueMany({ todos: mixed }))).toBe('unavailable')
  expect(line.to('/batch')).toHaveLength(1)
})

test('a server that is away is waited for, as long as it asks, and not longer than allowed', async () => {
  const { client, line, todo } = await disturbed('away')
  const away = (seconds: number) => new Response('', { status: 503, headers: { 'retry-after': String(seconds) } })
  line.intercept(`/${todo.id}`, [away(0), away(1)])
  const began = performance.now()
  expect((await client.getTodo({ id: todo.id })).todo.id).toBe(todo.id)
  expect(performance.now() - began).toBeGreaterThanOrEqual(1000)
  line.intercept(`/${todo.id}`, [away(31)])
  expect(await codeOf(client.getTodo({ id: todo.id }))).toBe('unavailable')
  line.intercept('/todos', [new Response('', { status: 429, headers: { 'retry-after': '0' } })])
  expect(await client.enqueue({ queue: 'away', title: 'Unkeyed' })).toMatchObject({ created: true })
})
