import { expect, test } from 'vitest'
import { type Agent, door } from './door'

const api = door()

async function claimed(agent: Agent, more: object = {}) {
  const queue = `work-${Math.random().toString(36).slice(2)}`
  await agent.post('/api/v1/todos', { queue, title: 'Work', ...more })
  const { body } = await agent.post('/api/v1/todos/claim', { queues: [queue], worker: 'mill-1', lease_seconds: 60 })
  const [todo] = body.todos
  const post = (verb: string, json: object = {}) =>
    agent.post(`/api/v1/todos/${todo.id}/${verb}`, { lease_epoch: todo.lease_epoch, ...json })
  return { todo, post, queue }
}

test('a claim gives the lease, and complete ends it with a result', async () => {
  const agent = await api.agent()
  const { todo, post } = await claimed(agent, { payload: { n: 1 } })
  expect(todo).toMatchObject({
    state: 'claimed',
    owner: `${agent.caller.name}/mill-1`,
    lease_epoch: 1,
    lease_seconds: 60,
    payload: { n: 1 },
    interrupts: [],
    prior_attempts: [],
  })
  expect(await post('complete', { result: { ok: true } })).toMatchObject({
    status: 200,
    body: { todo: { state: 'completed', result: { ok: true }, owner: null } },
  })
  expect((await post('complete', { result: { ok: false } })).body.todo.result).toEqual({ ok: true })
})

test('a heartbeat answers with the lease, a checkpoint survives, and the next claim is not blind', async () => {
  const agent = await api.agent()
  const { todo, post, queue } = await claimed(agent)
  const beat = await post('heartbeat', {
    lease_seconds: 600,
    progress: { ratio: 0.5, message: 'half' },
    checkpoint: { page: 7 },
  })
  expect(beat).toMatchObject({ status: 200, body: { state: 'claimed' } })
  expect(beat.body.lease_expires_at > todo.lease_expires_at).toBe(true)
  const failed = await post('fail', {
    error: { code: 'flaky', message: 'Try again', data: { at: 7 } },
    retry_after_seconds: 0,
  })
  expect(failed.body.todo).toMatchObject({ state: 'pending', failures: 1 })
  const [next] = (await agent.post('/api/v1/todos/claim', { queues: [queue] })).body.todos
  expect(next).toMatchObject({
    id: todo.id,
    lease_epoch: 2,
    checkpoint: { page: 7 },
    prior_attempts: [{ seq: 1, outcome: 'failed', error: { code: 'flaky' } }],
  })
})

test('release gives it back at no cost', async () => {
  const agent = await api.agent()
  const { post } = await claimed(agent)
  expect((await post('release', { reason: 'shutting down', checkpoint: [1] })).body.todo).toMatchObject({
    state: 'pending',
    failures: 0,
    lease_expirations: 0,
    checkpoint: [1],
  })
})

test('a question is asked once, answered by somebody, and the holder goes on', async () => {
  const agent = await api.agent()
  const { todo, post } = await claimed(agent)
  const schema = {
    type: 'object',
    properties: { colour: { type: 'string', enum: ['red', 'blue'] } },
    required: ['colour'],
  }
  const asked = await post('interrupt', { title: 'Which colour?', schema, risk: 'high', request_id: 'q1' })
  expect(asked).toMatchObject({
    status: 201,
    body: { todo: { state: 'input-required' }, interrupt: { status: 'open', kind: 'input', mode: 'hold' } },
  })
  const { id } = asked.body.interrupt
  expect(await post('interrupt', { title: 'Which colour?', schema, risk: 'high', request_id: 'q1' })).toMatchObject({
    status: 200,
    body: { interrupt: { id } },
  })
  expect(await post('interrupt', { title: 'Another?' })).toMatchObject({
    status: 409,
    body: { code: 'interrupt_open', state: 'input-required' },
  })
  const answer = (content: object) => agent.post(`/api/v1/interrupts/${id}/answer`, { content })
  expect(await answer({ colour: 'green' })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/content/colour' }] },
  })
  expect(await answer({ colour: 'red' })).toMatchObject({
    status: 200,
    body: { todo: { state: 'claimed' }, interrupt: { status: 'answered', content: { colour: 'red' } } },
  })
  expect((await answer({ colour: 'red' })).status).toBe(200)
  expect(await answer({ colour: 'blue' })).toMatchObject({
    status: 409,
    body: { code: 'already_answered', answered_by: `client:${agent.caller.name}`, answered_at: expect.any(String) },
  })
  expect(await agent.get(`/api/v1/todos/${todo.id}`)).toMatchObject({
    body: { todo: { state: 'claimed' }, interrupts: [{ id, content: { colour: 'red' } }] },
  })
})

test('the holder may resume with an answer it got by itself', async () => {
  const agent = await api.agent()
  const { post } = await claimed(agent)
  const { body } = await post('interrupt', { kind: 'auth', title: 'Sign in', url: 'https://login.example/x' })
  expect(body.todo.state).toBe('auth-required')
  const resumed = await post('resume', { interrupt_id: body.interrupt.id })
  expect(resumed).toMatchObject({
    status: 200,
    body: { todo: { state: 'claimed' }, interrupt: { status: 'resolved', action: 'accept' } },
  })
})

test('a lost lease is told with the state the todo is in', async () => {
  const agent = await api.agent()
  const { todo, post } = await claimed(agent)
  const verbs = {
    heartbeat: {},
    complete: {},
    fail: { error: { code: 'a', message: 'b' } },
    release: {},
    interrupt: { title: 'x' },
  }
  for (const [verb, body] of Object.entries(verbs)) {
    expect(await post(verb, { ...body, lease_epoch: 7 })).toMatchObject({
      status: 409,
      body: { code: 'lease_lost', state: 'claimed' },
    })
  }
  await agent.post(`/api/v1/todos/${todo.id}/cancel`)
  for (const [verb, body] of Object.entries(verbs)) {
    expect(await post(verb, body)).toMatchObject({ status: 409, body: { code: 'todo_terminal', state: 'canceled' } })
  }
})

test('in a batch each lease counts for itself', async () => {
  const agent = await api.agent()
  const one = await claimed(agent)
  const two = await claimed(agent)
  const items = [
    { id: one.todo.id, lease_epoch: 1 },
    { id: two.todo.id, lease_epoch: 9 },
    { id: '00000000-0000-7000-8000-000000000000', lease_epoch: 1 },
  ]
  const results = [
    { id: one.todo.id, ok: true },
    { id: two.todo.id, ok: false, code: 'lease_lost' },
    { ok: false, code: 'not_found' },
  ]
  expect(await agent.post('/api/v1/todos/batch/heartbeat', { items })).toMatchObject({ status: 200, body: { results } })
  expect(await agent.post('/api/v1/todos/batch/complete', { items })).toMatchObject({ status: 200, body: { results } })
})

test('a claim by id takes just that todo, or says why not', async () => {
  const agent = await api.agent()
  const { body } = await agent.post('/api/v1/todos', { queue: 'by-id', title: 'This one' })
  const { id } = body.todo
  expect(await agent.post(`/api/v1/todos/${id}/claim`, { worker: 'w' })).toMatchObject({
    status: 200,
    body: { todo: { id, state: 'claimed' } },
  })
  expect(await agent.post(`/api/v1/todos/${id}/claim`)).toMatchObject({
    status: 409,
    body: { code: 'invalid_state', state: 'claimed' },
  })
  const later = await agent.post('/api/v1/todos', { queue: 'by-id', title: 'Later', delay_seconds: 3600 })
  expect(await agent.post(`/api/v1/todos/${later.body.todo.id}/claim`)).toMatchObject({
    status: 409,
    body: { code: 'invalid_state' },
  })
})

test('a claim repeated under its request id gets the same todos', async () => {
  const agent = await api.agent()
  await agent.post('/api/v1/todos/batch', { todos: [1, 2, 3].map((n) => ({ queue: 'repeat', title: `${n}` })) })
  const ask = () => agent.post('/api/v1/todos/claim', { queues: ['repeat'], limit: 2, request_id: 'r1' })
  const ids = async () => (await ask()).body.todos.map((todo: { id: string }) => todo.id)
  const first = await ids()
  expect(first).toHaveLength(2)
  expect(await ids()).toEqual(first)
})
