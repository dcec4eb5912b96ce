import { describe, expect, test } from 'vitest'
import { hashToken } from '#lib/auth/token'
import { SCOPES } from '#lib/wire/caller'
import type { Operation } from '#lib/wire/operation'
import { OPERATIONS } from '#lib/wire/operations'
import { given } from '../support/given'
import { door, PATIENT } from './door'

const api = door()

const NOBODY = '00000000-0000-7000-8000-000000000000'

const operations = Object.entries<Operation>(OPERATIONS).map(([name, operation]) => ({
  name,
  operation,
  path: operation.path.replace('{id}', NOBODY),
}))

describe('an endpoint token', () => {
  test('is needed for everything that is not open, and a bad one is refused with how to sign in', async () => {
    const bad = [
      '',
      'Bearer',
      'Bearer ',
      'Bearer x',
      `Bearer sbk_${'a'.repeat(43)}`,
      'Basic abc',
      'bearer sbk_',
      `Bearer ${'x'.repeat(4000)}`,
    ]
    for (const { operation, path } of operations.filter((one) => one.operation.scopes !== 'open')) {
      for (const authorization of bad) {
        const answer = await api.send(operation.method, path, { headers: authorization ? { authorization } : {} })
        expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
        expect(answer.headers.get('www-authenticate')).toContain('Bearer')
      }
    }
  })

  test('is stored as a hash, and found by it whatever the case of its scheme', async () => {
    const agent = await api.agent(['read'])
    const rows = await api.sql`SELECT e::text AS row FROM endpoints e`
    expect(rows.some(({ row }) => row.includes(agent.token))).toBe(false)
    expect(rows.some(({ row }) => row.includes(hashToken(agent.token)))).toBe(true)
    const answer = await api.send('GET', '/api/v1/queues', { headers: { authorization: `bEARER   ${agent.token}` } })
    expect(answer.status).toBe(200)
  })

  test('works no more from the moment it is revoked or expires', async () => {
    for (const column of ['revoked_at', 'expires_at'] as const) {
      const agent = await api.agent(['read'])
      expect((await agent.get('/api/v1/queues')).status).toBe(200)
      await api.db.query({ text: `UPDATE endpoints SET ${column} = now() WHERE id = $1`, values: [agent.caller.id] })
      expect((await agent.get('/api/v1/queues')).status).toBe(401)
    }
  })

  test('of many callers at once is looked up right for each', async () => {
    const agents = await Promise.all([api.agent(['read']), api.agent(['work']), api.agent(['read'])])
    const stranger = {
      get: () => api.send('GET', '/api/v1/queues', { headers: { authorization: `Bearer sbk_${'b'.repeat(43)}` } }),
    }
    const callers = [...agents, stranger]
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, at) => callers[at % 4]?.get('/api/v1/queues')))
    expect(statuses.map((reply) => reply?.status)).toEqual(
      Array.from({ length: 10 }, () => [200, 403, 200, 401]).flat(),
    )
  })

  test('marks its endpoint as seen, once a minute at most', async () => {
    const agent = await api.agent(['read'])
    const seen = async () =>
      (await api.sql`SELECT last_seen_at FROM endpoints WHERE id = ${agent.caller.id}`)[0]?.last_seen_at
    await agent.get('/api/v1/queues')
    await expect.poll(seen, PATIENT).not.toBeNull()
    await api.sql`UPDATE endpoints SET last_seen_at = now() - interval '59 seconds' WHERE id = ${agent.caller.id}`
    const before = await seen()
    await agent.get('/api/v1/queues')
    await api.sql`UPDATE endpoints SET last_seen_at = now() - interval '61 seconds' WHERE id = ${agent.caller.id}`
    const older = await seen()
    expect(older < before).toBe(true)
    await agent.get('/api/v1/queues')
    await expect.poll(async () => (await seen()) > before, PATIENT).toBe(true)
  })
})

describe('scopes', () => {
  test.each(SCOPES)('%s opens the operations that name it and no other', async (scope) => {
    const agent = await api.agent([scope])
    for (const { name, operation, path } of operations) {
      const { status, body } = await agent.send(operation.method, path)
      const may = operation.scopes === 'open' || operation.scopes.includes(scope)
      expect({ name, refused: status === 403 && body.code === 'forbidden' }).toEqual({ name, refused: !may })
      expect(status).not.toBe(401)
      expect(status).toBeLessThan(500)
    }
  })

  test('work alone reads the todos it holds or held, and their questions, but no other', async () => {
    const worker = await api.agent(['work'])
    const other = await api.agent(['work'])
    const asked = await given(api.db, 'input-required', { worker: worker.caller })
    const done = await given(api.db, 'completed', { worker: worker.caller })
    for (const path of [
      `todos/${asked.id}`,
      `todos/${asked.id}/events`,
      `interrupts/${asked.interruptId}`,
      `todos/${done.id}`,
    ]) {
      expect((await worker.get(`/api/v1/${path}`)).status).toBe(200)
      expect(await other.get(`/api/v1/${path}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
    expect((await worker.get('/api/v1/todos')).status).toBe(403)
  })

  test('enqueue alone cancels and rejects only what it made', async () => {
    const maker = await api.agent(['enqueue'])
    const { body } = await maker.post('/api/v1/todos', { queue: 'own', title: 'Mine' })
    const foreign = await given(api.db, 'pending')
    expect((await maker.post(`/api/v1/todos/${foreign.id}/cancel`)).status).toBe(403)
    expect((await maker.post(`/api/v1/todos/${body.todo.id}/cancel`)).status).toBe(200)
  })
})

describe('queues of an endpoint', () => {
  test('a queue outside them is forbidden when named, and its todos are absent', async () => {
    const agent = await api.agent(undefined, { queues: ['mine', 'also-mine'] })
    const foreign = await given(api.db, 'input-required', { todo: { queue: 'theirs' } })
    const own = await given(api.db, 'pending', { todo: { queue: 'mine' } })
    for (const answer of [
      await agent.post('/api/v1/todos', { queue: 'theirs', title: 'A' }),
      await agent.post('/api/v1/todos/batch', {
        todos: [
          { queue: 'mine', title: 'A' },
          { queue: 'theirs', title: 'B' },
        ],
      }),
      await agent.post('/api/v1/todos/claim', { queues: ['mine', 'theirs'] }),
      await agent.get('/api/v1/todos?queue=theirs'),
      await agent.get('/api/v1/interrupts?queue=theirs'),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    const paths = operations.filter(({ operation }) => operation.path.includes('todos/{id}'))
    for (const { operation, name } of paths) {
      const body = BODIES[name]
      const path = operation.path.replace('{id}', foreign.id)
      const answer = await agent.send(operation.method, path, operation.method === 'GET' ? {} : { json: body ?? {} })
      expect({ name, status: answer.status }).toEqual({ name, status: 404 })
    }
    expect((await agent.get(`/api/v1/interrupts/${foreign.interruptId}`)).status).toBe(404)
    expect(
      (await agent.post(`/api/v1/interrupts/${foreign.interruptId}/answer`, { content: { answer: 'x' } })).status,
    ).toBe(404)
    const list = (await agent.get('/api/v1/todos')).body
    expect(list.todos.map((todo: { id: string }) => todo.id)).toEqual([own.id])
    expect(list.counts['input-required'].count).toBe(0)
    expect((await agent.get('/api/v1/interrupts')).body.interrupts).toEqual([])
    expect((await agent.get('/api/v1/queues')).body.queues.map((queue: { name: string }) => queue.name)).toEqual([
      'mine',
    ])
    expect(
      (await agent.post('/api/v1/todos/claim', { limit: 100 })).body.todos.map((todo: { id: string }) => todo.id),
    ).toEqual([own.id])
  })
})

const lease = { lease_epoch: 1 }

const BODIES: Record<string, object> = {
  heartbeat: lease,
  editTodo: { version: 1, priority: 1 },
  wait: lease,
  complete: lease,
  fail: { ...lease, error: { code: 'x', message: 'x' } },
  release: lease,
  interrupt: { ...lease, title: 'Why?' },
  resume: { ...lease, interrupt_id: NOBODY },
  beginEffect: { ...lease, key: 'one', idempotent: false },
  settleEffect: { ...lease, status: 'confirmed' },
}
