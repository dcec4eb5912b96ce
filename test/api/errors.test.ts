import { describe, expect, test } from 'vitest'
import type { Violation } from '#lib/model/errors'
import { door } from './door'

const api = door()
const id = '01a23054-389d-74a8-86e8-0c86ee22b5f5'

describe('a problem', () => {
  test('is application/problem+json with everything a caller needs to act', async () => {
    const agent = await api.agent()
    const { status, headers, body } = await agent.post('/api/v1/todos', { queue: 'errors' })
    expect(status).toBe(422)
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(body).toEqual({
      type: '/docs#validation_failed',
      title: 'The request is not valid',
      status: 422,
      code: 'validation_failed',
      detail: '/title is required',
      errors: [{ pointer: '/title', message: 'is required' }],
      request_id: headers.get('x-request-id'),
    })
  })

  test('carries the request id that was sent, when it is well formed', async () => {
    const sent = await api.send('GET', '/api/v1/todos', { headers: { 'x-request-id': 'trace-1:a.b_c' } })
    expect(sent.headers.get('x-request-id')).toBe('trace-1:a.b_c')
    expect(sent.body.request_id).toBe('trace-1:a.b_c')
    for (const bad of ['a b', 'x'.repeat(129), '"', 'ä']) {
      const made = await api.send('GET', '/api/v1/todos', { headers: { 'x-request-id': bad } })
      expect(made.body.request_id).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test('names every violation with its pointer, in body, query and path at once', async () => {
    const agent = await api.agent()
    const body = {
      queue: 'Not A Queue',
      title: '',
      priority: 1e9,
      'a/b~c': 1,
      delay_seconds: 1,
      available_at: '2030-01-01T00:00:00Z',
    }
    const made = await agent.send('POST', '/api/v1/todos?what=1', { json: body })
    const pointers = made.body.errors.map((error: { pointer: string }) => error.pointer)
    expect(pointers.sort()).toEqual(['/a~1b~0c', '/delay_seconds', '/priority', '/queue', '/title', '?what'])
    const read = await agent.get('/api/v1/todos/NOT-AN-ID?wait_seconds=31')
    expect(read.body.errors.map((error: { pointer: string }) => error.pointer)).toEqual(['{id}', '?wait_seconds'])
  })
})

test('what is wrong is said in plain words, wherever it stands', async () => {
  const agent = await api.agent()
  const refused = async (path: string, body: object) =>
    Object.fromEntries(
      (await agent.post(path, body)).body.errors.map(({ pointer, message }: Violation) => [pointer, message]),
    )
  expect(
    await refused('/api/v1/todos', { queue: 1, title: '', priority: 'high', max_attempts: 1.5, available_at: 'soon' }),
  ).toEqual({
    '/queue': 'must be a text',
    '/title': 'must not be empty',
    '/priority': 'must be a number',
    '/max_attempts': 'must be a whole number',
    '/available_at': 'must be a time with its zone, like 2030-01-31T12:00:00Z',
  })
  expect(await refused('/api/v1/todos/batch', { todos: [] })).toEqual({ '/todos': 'must not be empty' })
  const action = await refused(`/api/v1/interrupts/${id}/answer`, { action: 'maybe' })
  expect(action).toEqual({ '/action': 'must be one of accept, decline' })
  const state = await agent.get('/api/v1/todos?state=odd')
  expect(state.body.errors).toEqual([
    { pointer: '?state', message: expect.stringMatching(/^must be one of pending, /) },
  ])
})

describe('an address', () => {
  test('that holds NUL is invalid_request', async () => {
    const agent = await api.agent()
    for (const query of ['q=a%00', '%00=1']) {
      expect(await agent.get(`/api/v1/todos?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      })
    }
  })

  test('with an unknown query field, or one given twice, is refused', async () => {
    const agent = await api.agent()
    const unknown = await agent.get('/api/v1/todos?colour=red')
    expect(unknown).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '?colour', message: 'is not known here' }] },
    })
    const twice = await agent.get('/api/v1/todos?limit=1&limit=1')
    expect(twice).toMatchObject({ status: 422, body: { errors: [{ pointer: '?limit' }] } })
    expect(await agent.get('/api/v1/queues?x=1')).toMatchObject({ status: 422, body: { errors: [{ pointer: '?x' }] } })
    expect((await agent.get('/api/v1/todos?state=pending&state=failed')).status).toBe(200)
  })

  test('with numbers in other spellings is refused', async () => {
    const agent = await api.agent()
    for (const limit of ['0', '201', '-1', '1e2', '+5', '%205', '5.0', '', '0x10', '99999999999999999999']) {
      expect(await agent.get(`/api/v1/todos?limit=${limit}`)).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '?limit' }] },
      })
    }
  })

  test('with a cursor that no list gave is refused', async () => {
    const agent = await api.agent()
    await agent.post('/api/v1/todos/batch', { todos: [1, 2, 3].map((n) => ({ queue: 'cursors', title: `${n}` })) })
    const { next_cursor } = (await agent.get('/api/v1/todos?queue=cursors&limit=1')).body
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const bad = [
      'x',
      '!!!',
      '%F0%9F%98%80',
      `${next_cursor}A`,
      next_cursor.slice(1),
      encoded(null),
      encoded(['todos']),
      encoded(['todos', "' OR 1=1"]),
    ]
    for (const cursor of [...bad, encoded(['events', 1]), encoded({ id: 1 })]) {
      expect(await agent.get(`/api/v1/todos?cursor=${cursor}`)).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '?cursor' }] },
      })
      expect((await agent.get(`/api/v1/interrupts?cursor=${cursor}`)).status).toBe(422)
    }
    expect((await agent.get(`/api/v1/interrupts?cursor=${next_cursor}`)).status).toBe(422)
  })

  test('that leads nowhere is not_found, signed in or not', async () => {
    const agent = await api.agent()
    for (const path of ['/api/v1', '/api/v1/nothing', '/api/v1/todos/a/b/c', '/api/v1/Todos', '/api/v1/todos.json']) {
      expect(await agent.get(path)).toMatchObject({ status: 404, body: { code: 'not_found' } })
      expect((await api.send('POST', path)).status).toBe(404)
    }
  })
})

describe('a method', () => {
  test('that a path does not take is refused with those it does', async () => {
    const agent = await api.agent()
    for (const method of ['DELETE', 'PUT', 'PATCH']) {
      const { status, headers, body } = await agent.send(method, '/api/v1/todos')
      expect({ status, code: body.code, allow: headers.get('allow') }).toEqual({
        status: 405,
        code: 'method_not_allowed',
        allow: 'POST, GET, HEAD, OPTIONS',
      })
    }
    expect((await agent.get('/api/v1/todos/claim')).headers.get('allow')).toBe('POST, OPTIONS')
    expect((await agent.send('HEAD', '/api/v1/todos/claim')).status).toBe(405)
  })

  test('HEAD answers as GET without a body, OPTIONS with what there is', async () => {
    const agent = await api.agent()
    const head = await agent.send('HEAD', '/api/v1/queues')
    expect({ status: head.status, body: head.body, type: head.headers.get('content-type') }).toEqual({
      status: 200,
      body: '',
      type: 'application/json',
    })
    const options = await api.send('OPTIONS', '/api/v1/todos')
    expect({ status: options.status, allow: options.headers.get('allow') }).toEqual({
      status: 204,
      allow: 'POST, GET, HEAD, OPTIONS',
    })
  })
})
