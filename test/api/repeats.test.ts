import { beforeAll, expect, test } from 'vitest'
import { type Agent, door, type Reply } from './door'

const api = door()

let agent: Agent
beforeAll(async () => {
  agent = await api.agent(['enqueue', 'work'])
})

const USED = { usage: { cost_usd: 0.5, tokens: 40 } }
const BROKEN = { error: { code: 'broken', message: 'It broke' } }
const PAY = { key: 'pay', idempotent: false, request_id: 'b1' }
const QUESTION = { title: 'Which?', message: 'Of these', ...USED }

/** A todo that this agent holds, the queue it alone is in, and how to call about it under that lease. */
interface Holding {
  id: string
  queue: string
  post(verb: string, json?: object): Promise<Reply>
}

let queues = 0

async function enqueued(): Promise<Holding> {
  queues += 1
  const queue = `repeats-${queues}`
  const { body } = await agent.post('/api/v1/todos', { queue, title: 'Work', budget: { max_tokens: 100 } })
  const post: Holding['post'] = (verb, json = {}) =>
    agent.post(`/api/v1/todos/${body.todo.id}/${verb}`, { lease_epoch: 1, ...json })
  return { id: body.todo.id, queue, post }
}

async function claimed(): Promise<Holding> {
  const todo = await enqueued()
  await agent.post(`/api/v1/todos/${todo.id}/claim`, {})
  return todo
}

async function asked(): Promise<Holding> {
  const todo = await claimed()
  await todo.post('interrupt', { title: 'Which?' })
  return todo
}

async function begun(): Promise<Holding> {
  const todo = await claimed()
  await todo.post('effects', PAY)
  return todo
}

async function withChild(): Promise<Holding> {
  const todo = await claimed()
  await agent.post('/api/v1/todos', { queue: 'parts', title: 'A part', parent_id: todo.id, parent_epoch: 1 })
  return todo
}

const questionOf = async ({ id }: Holding) => (await agent.get(`/api/v1/todos/${id}`)).body.todo.open_interrupt_id

/** One verb of a worker: what it is done to, the call as it is sent each time, and the status of the first answer. */
type Verb = [name: string, to: () => Promise<Holding>, call: (todo: Holding) => Promise<Reply>, first?: 201]

const VERBS: Verb[] = [
  ['claim', enqueued, ({ queue }) => agent.post('/api/v1/todos/claim', { queues: [queue], request_id: `c-${queue}` })],
  ['claim by id', enqueued, ({ id }) => agent.post(`/api/v1/todos/${id}/claim`, { request_id: `c-${id}` })],
  ['heartbeat', claimed, ({ post }) => post('heartbeat', { progress: { ratio: 0.5 } })],
  ['heartbeat with a checkpoint', claimed, ({ post }) => post('heartbeat', { checkpoint: { page: 7 } })],
  ['heartbeat with what it used', claimed, ({ post }) => post('heartbeat', USED)],
  ['complete', claimed, ({ post }) => post('complete', { result: { ok: true }, ...USED })],
  ['fail', claimed, ({ post }) => post('fail', { ...BROKEN, ...USED })],
  ['fail for good', claimed, ({ post }) => post('fail', { ...BROKEN, retryable: false, ...USED })],
  ['release', claimed, ({ post }) => post('release', { checkpoint: { page: 7 }, ...USED })],
  ['interrupt and hold', claimed, ({ post }) => post('interrupt', { ...QUESTION, request_id: 'q1' }), 201],
  ['interrupt and hold, by equal words', claimed, ({ post }) => post('interrupt', QUESTION), 201],
  [
    'interrupt and park',
    claimed,
    ({ post }) => post('interrupt', { ...QUESTION, mode: 'park', checkpoint: { page: 7 }, request_id: 'q1' }),
    201,
  ],
  ['interrupt and park, by equal words', claimed, ({ post }) => post('interrupt', { ...QUESTION, mode: 'park' }), 201],
  ['park', asked, ({ post }) => post('park', { checkpoint: { page: 7 } })],
  ['wait', withChild, ({ post }) => post('wait', { checkpoint: { page: 7 }, ...USED })],
  ['begin an effect', claimed, ({ post }) => post('effects', PAY), 201],
  ['confirm an effect', begun, ({ post }) => post('effects/pay', { status: 'confirmed', result: { receipt: 7 } })],
  ['fail an effect', begun, ({ post }) => post('effects/pay', { status: 'failed' })],
  ['over its budget', claimed, ({ post }) => post('release', { usage: { tokens: 101 } })],
]

// All a beat moves.
const BEATEN = /^(lease_expires_at|updated_at|last_heartbeat_at)$/

/** All that is stored of a todo and its children, and all that is counted but requests. */
async function kept(id: string): Promise<unknown> {
  const tables = await Promise.all([
    api.sql`SELECT to_jsonb(t) AS row FROM todos t WHERE id = ${id} OR parent_id = ${id} ORDER BY id`,
    api.sql`SELECT to_jsonb(a) AS row FROM todo_attempts a WHERE todo_id = ${id} ORDER BY seq`,
    api.sql`SELECT to_jsonb(q) AS row FROM interrupts q WHERE todo_id = ${id} ORDER BY id`,
    api.sql`SELECT to_jsonb(e) AS row FROM effects e WHERE todo_id = ${id} ORDER BY key`,
    api.sql`SELECT to_jsonb(v) AS row FROM todo_events v WHERE todo_id = ${id} ORDER BY id`,
  ])
  return JSON.parse(JSON.stringify(tables), (name, value) => (BEATEN.test(name) ? 'some time' : value))
}

// Plain `next start` has no door for metrics.
async function counted(): Promise<string[]> {
  if (process.env.SWITCHBOARD_TEST_DOOR === 'next') return []
  const { body } = await api.send('GET', '/metrics')
  const counters = String(body)
    .split('\n')
    .filter((line) => /^switchboard_(todo|interrupt|fenced|parked)\w*_total/.test(line))
  expect(counters).not.toEqual([])
  return counters
}

const unbeaten = ({ body }: Reply) =>
  JSON.parse(JSON.stringify(body), (name, value) => (BEATEN.test(name) ? 'some time' : value))

test.each(VERBS)(
  '%s, sent again after its answer was lost, is answered 200 with the same row, and counted once',
  async (_, to, call, first) => {
    const todo = await to()
    const answer = await call(todo)
    expect(answer.status).toBe(first ?? 200)
    const [stored, counters] = [await kept(todo.id), await counted()]
    for (let time = 0; time < 3; time++) {
      const again = await call(todo)
      expect(again.status).toBe(200)
      expect(unbeaten(again)).toEqual(unbeaten(answer))
    }
    expect(await kept(todo.id)).toEqual(stored)
    expect(await counted()).toEqual(counters)
  },
)

test('resume, sent again after its answer was lost, is answered 200 with the same row, and counted once', async () => {
  const todo = await asked()
  const resume = { interrupt_id: await questionOf(todo), content: { answer: 'this' } }
  const answer = await todo.post('resume', resume)
  expect(answer).toMatchObject({ status: 200, body: { todo: { state: 'claimed' }, interrupt: { status: 'resolved' } } })
  const [stored, counters] = [await kept(todo.id), await counted()]
  expect(await todo.post('resume', resume)).toMatchObject({ status: 200, body: answer.body })
  expect(await kept(todo.id)).toEqual(stored)
  expect(await counted()).toEqual(counters)
})

test('what a repeat finds changed meanwhile is harmed by none of them', async () => {
  const todo = await claimed()
  const release = () => todo.post('release', { checkpoint: { page: 7 } })
  await release()
  const other = await api.agent(['work'])
  await other.post(`/api/v1/todos/${todo.id}/claim`, {})
  const stored = await kept(todo.id)
  expect(await release()).toMatchObject({ status: 200, body: { todo: { state: 'claimed', lease_epoch: 2 } } })
  expect(await kept(todo.id)).toEqual(stored)
})
