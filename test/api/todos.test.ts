import { expect, test } from 'vitest'
import { STATE_NAMES } from '#lib/model/states'
import { expireLeases } from '#lib/queue/expire'
import { backdate } from '../support/clock'
import { given } from '../support/given'
import { door } from './door'

const api = door()

test('a todo is made once for an idempotency key, with 201 and then 200', async () => {
  const agent = await api.agent()
  const wanted = { queue: 'mail', title: 'Write to Ada', idempotency_key: 'ada', payload: { to: 'ada' }, priority: 5 }
  const first = await agent.post('/api/v1/todos', wanted)
  expect(first).toMatchObject({
    status: 201,
    body: { created: true, todo: { state: 'pending', payload: { to: 'ada' } } },
  })
  const again = await agent.post('/api/v1/todos', { ...wanted, title: 'Another title' })
  expect(again).toMatchObject({
    status: 200,
    body: { created: false, todo: { id: first.body.todo.id, title: 'Write to Ada' } },
  })
})

test('a batch is answered in order and made whole or not at all', async () => {
  const agent = await api.agent()
  const todos = ['a', 'b', 'a'].map((key) => ({ queue: 'batch', title: key, idempotency_key: key }))
  const { status, body } = await agent.post('/api/v1/todos/batch', { todos })
  expect(status).toBe(200)
  expect(body.results.map((one: { created: boolean }) => one.created)).toEqual([true, true, false])
  expect(body.results[2].id).toBe(body.results[0].id)
  const bad = await agent.post('/api/v1/todos/batch', {
    todos: [
      { queue: 'batch', title: 'c' },
      { queue: 'batch', title: '' },
    ],
  })
  expect(bad).toMatchObject({ status: 422, body: { errors: [{ pointer: '/todos/1/title' }] } })
  const nobodys = await agent.post('/api/v1/todos/batch', {
    todos: [{ queue: 'batch', title: 'd', assignee: 'nobody' }],
  })
  expect(nobodys).toMatchObject({ status: 422, body: { errors: [{ pointer: '/todos/0/assignee' }] } })
  expect((await agent.get('/api/v1/todos?queue=batch')).body.counts.pending.count).toBe(2)
})

test('pages follow each other without a gap or a repeat, newest first, and end', async () => {
  const agent = await api.agent()
  const todos = Array.from({ length: 25 }, (_, at) => ({ queue: 'pages', title: `Page ${at}` }))
  await agent.post('/api/v1/todos/batch', { todos })
  const seen: string[] = []
  let next = ''
  for (let page = 0; page < 5; page++) {
    const { body } = await agent.get(`/api/v1/todos?queue=pages&limit=10${next}`)
    seen.push(...body.todos.map((todo: { id: string }) => todo.id))
    if (body.next_cursor === null) break
    next = `&cursor=${body.next_cursor}`
  }
  expect(seen).toHaveLength(25)
  expect(new Set(seen).size).toBe(25)
  expect(seen).toEqual([...seen].sort().reverse())
})

test('what ended last comes first where that is asked for, page by page, also of those that ended at once', async () => {
  const agent = await api.agent()
  const ended = []
  for (const state of ['completed', 'failed', 'completed', 'canceled', 'failed'] as const)
    ended.push((await given(api.db, state, { todo: { queue: 'ended' } })).id)
  const [first, ...rest] = ended
  await api.db.query({
    text: `UPDATE todos SET completed_at = '2026-11-30T12:00:00.123456Z' WHERE id = ANY($1)`,
    values: [rest],
  })
  await api.db.query({
    text: `UPDATE todos SET completed_at = '2026-11-30T12:00:00.123457Z' WHERE id = $1`,
    values: [first],
  })
  const over = '/api/v1/todos?queue=ended&state=completed&state=failed&state=canceled&sort=ended'
  const seen: string[] = []
  for (let next = '', page = 0; page < 5; page++) {
    const { body } = await agent.get(`${over}&limit=2${next}`)
    seen.push(...body.todos.map((todo: { id: string }) => todo.id))
    if (body.next_cursor === null) break
    next = `&cursor=${body.next_cursor}`
  }
  expect(seen).toEqual([first, ...rest.sort().reverse()])

  const { status, body } = await agent.get('/api/v1/todos?state=completed&state=pending&sort=ended')
  expect({ status, errors: body.errors }).toEqual({
    status: 422,
    errors: [{ pointer: '?sort', message: 'ended needs states that are over: completed, failed, canceled, rejected' }],
  })
  expect((await agent.get('/api/v1/todos?sort=ended')).status).toBe(422)
  const { body: newest } = await agent.get('/api/v1/todos?queue=ended&limit=1')
  expect((await agent.get(`${over}&cursor=${newest.next_cursor}`)).body.errors).toMatchObject([{ pointer: '?cursor' }])
})

test('a list says since when the oldest of each live state waits, and why those are back that are pending again', async () => {
  const agent = await api.agent()
  const todo = { queue: 'back' }
  const fresh = await given(api.db, 'pending', { todo })
  const released = await given(api.db, 'claimed', { todo, worker: agent.caller })
  await agent.post(`/api/v1/todos/${released.id}/release`, { lease_epoch: 1, reason: 'Not mine' })
  const lapsed = await given(api.db, 'claimed', { todo, ago: { lease_expires_at: 1 } })
  await expireLeases(api.db)
  await given(api.db, 'failed', { todo })
  await backdate(api.db, fresh.id, { state_since: 3600 })
  const { body } = await agent.get('/api/v1/todos?queue=back')
  const { state_since } = body.todos.find(({ id }: { id: string }) => id === fresh.id)
  expect(body.oldest).toEqual({ pending: state_since })
  const causes = body.causes.map(({ event_id: _, ...cause }: { event_id: number }) => cause)
  expect(causes).toEqual([
    { todo_id: lapsed.id, verb: 'requeued', reason: 'lease_expired', from: 'claimed', to: 'pending' },
    { todo_id: released.id, verb: 'released', reason: 'Not mine', from: 'claimed', to: 'pending' },
  ])
})

test('every filter holds for the list, and all but state and paging for the counts', async () => {
  const agent = await api.agent()
  const made = { queue: 'filter', kind: 'report' }
  await given(api.db, 'pending', { todo: { ...made, title: 'One' } })
  await given(api.db, 'completed', { todo: { ...made, title: 'Two' } })
  await given(api.db, 'failed', { todo: { ...made, title: 'Three' } })
  await given(api.db, 'failed', { todo: { ...made, kind: 'other', title: 'Four' } })
  const list = await agent.get('/api/v1/todos?queue=filter&kind=report&state=failed&state=completed&limit=1')
  expect(list.body.todos.map((todo: { title: string }) => todo.title)).toEqual(['Three'])
  const counts = Object.fromEntries(STATE_NAMES.map((state) => [state, list.body.counts[state].count]))
  expect(counts).toEqual({ ...zeroes(), pending: 1, completed: 1, failed: 1 })
  const held = await given(api.db, 'claimed', { todo: { queue: 'filter' }, worker: agent.caller })
  for (const owner of [agent.caller.name, `${agent.caller.name}/default`]) {
    const { body } = await agent.get(`/api/v1/todos?owner=${owner}`)
    expect(body.todos.map((todo: { id: string }) => todo.id)).toEqual([held.id])
  }
  const { created_at } = held.todo
  const after = await agent.get(`/api/v1/todos?queue=filter&created_after=${encodeURIComponent(created_at)}`)
  expect(after.body.todos.every((todo: { created_at: string }) => todo.created_at >= created_at)).toBe(true)
  expect((await agent.get('/api/v1/todos?created_before=2001-01-01T00:00:00%2B02:00')).body.todos).toEqual([])
})

const zeroes = () => Object.fromEntries(STATE_NAMES.map((state) => [state, 0]))

test('a search finds text as it is: wildcards of SQL are letters like others', async () => {
  const agent = await api.agent()
  for (const title of ['100% sure', '100 sure', 'snake_case', 'snakeXcase', 'back\\slash', 'ÄRGER']) {
    await given(api.db, 'pending', { todo: { queue: 'search', title } })
  }
  const found = async (q: string) => {
    const { body } = await agent.get(`/api/v1/todos?queue=search&q=${encodeURIComponent(q)}`)
    return body.todos.map((todo: { title: string }) => todo.title)
  }
  expect(await found('100%')).toEqual(['100% sure'])
  expect(await found('e_c')).toEqual(['snake_case'])
  expect(await found('back\\')).toEqual(['back\\slash'])
  expect(await found('ärger')).toEqual(['ÄRGER'])
  const dead = await given(api.db, 'failed', { todo: { queue: 'search', title: 'Plain' } })
  expect(await found('it broke')).toEqual(['Plain'])
  expect(await found(dead.id.slice(0, 30))).toContain('Plain')
  expect(await found(dead.id.toUpperCase())).toEqual(['Plain'])
})

test('a list carries cards: no payload, result or checkpoint', async () => {
  const agent = await api.agent()
  await agent.post('/api/v1/todos', { queue: 'cards', title: 'Heavy', payload: { heavy: true } })
  const [card] = (await agent.get('/api/v1/todos?queue=cards')).body.todos
  expect(card).toMatchObject({ title: 'Heavy', state: 'pending' })
  expect(Object.keys(card)).not.toEqual(expect.arrayContaining(['payload']))
  expect('result' in card || 'checkpoint' in card).toBe(false)
})

test('a todo is told with its attempts, questions, effects and children', async () => {
  const agent = await api.agent()
  const asked = await given(api.db, 'input-required', { worker: agent.caller, failures: 1 })
  const { body } = await agent.get(`/api/v1/todos/${asked.id}`)
  expect(body).toMatchObject({
    todo: { state: 'input-required', attempts: 2, failures: 1 },
    attempts: [
      { seq: 1, outcome: 'failed' },
      { seq: 2, outcome: null },
    ],
    interrupts: [{ id: asked.interruptId, status: 'open' }],
    effects: [],
    children: { todos: [], total: 0 },
  })
  expect(body.todo).toMatchObject({ interrupts: [{ id: asked.interruptId }], prior_attempts: [{ seq: 1 }] })
  const reader = await api.agent(['read'])
  expect((await reader.get(`/api/v1/todos/${asked.id}`)).body.todo).not.toHaveProperty('interrupts')
})

test('events are told oldest first, page by page', async () => {
  const agent = await api.agent()
  const { id } = await given(api.db, 'completed', { failures: 2 })
  const verbs: string[] = []
  let next = ''
  for (let page = 0; page < 10; page++) {
    const { body } = await agent.get(`/api/v1/todos/${id}/events?limit=2${next}`)
    verbs.push(...body.events.map((event: { verb: string }) => event.verb))
    if (body.next_cursor === null) break
    next = `&cursor=${body.next_cursor}`
  }
  expect(verbs).toEqual(['created', 'claimed', 'retry_scheduled', 'claimed', 'retry_scheduled', 'claimed', 'completed'])
})

test('cancel, reject and requeue end a todo and put it back', async () => {
  const agent = await api.agent()
  const { id } = await given(api.db, 'pending')
  expect(await agent.post(`/api/v1/todos/${id}/reject`, { reason: 'not ours' })).toMatchObject({
    status: 200,
    body: { todo: { state: 'rejected' } },
  })
  expect(await agent.post(`/api/v1/todos/${id}/cancel`)).toMatchObject({
    status: 409,
    body: { code: 'todo_terminal', state: 'rejected' },
  })
  expect(await agent.post(`/api/v1/todos/${id}/requeue`)).toMatchObject({
    status: 200,
    body: { todo: { state: 'pending' } },
  })
  expect(await agent.post(`/api/v1/todos/${id}/requeue`)).toMatchObject({
    status: 409,
    body: { code: 'invalid_state', state: 'pending' },
  })
  expect(await agent.post(`/api/v1/todos/${id}/cancel`)).toMatchObject({
    status: 200,
    body: { todo: { state: 'canceled' } },
  })
  expect(await agent.post(`/api/v1/todos/${id}/cancel`)).toMatchObject({
    status: 200,
    body: { todo: { state: 'canceled' } },
  })
})

test('queues are listed with their settings', async () => {
  const agent = await api.agent()
  await given(api.db, 'pending', { todo: { queue: 'listed' } })
  await api.sql`UPDATE queues SET paused = true, max_claimed = 3 WHERE name = ${'listed'}`
  const { body } = await agent.get('/api/v1/queues')
  const [queue] = body.queues.filter((one: { name: string }) => one.name === 'listed')
  expect(queue).toEqual({
    name: 'listed',
    paused: true,
    max_claimed: 3,
    default_lease_seconds: null,
    max_attempts: null,
    description: null,
  })
})
