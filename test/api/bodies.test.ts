import { describe, expect, test } from 'vitest'
import { type Agent, door } from './door'

const api = door()

const make = (agent: Agent, body: BodyInit, headers = {}) =>
  agent.send('POST', '/api/v1/todos', { body, headers: { 'content-type': 'application/json', ...headers } })

const todo = (payload: string) => `{"queue":"errors","title":"A","payload":${payload}}`

const counted = async (agent: Agent) => (await agent.get('/api/v1/todos?queue=errors')).body.counts.pending.count

describe('a body that cannot be read is invalid_request', () => {
  const UNREADABLE: [string, BodyInit][] = [
    ['malformed JSON', '{"queue":'],
    ['two values', '{} {}'],
    ['NUL in a value', todo('"a\\u0000b"')],
    ['NUL in a key', todo('{"a\\u0000":1}')],
    ['a high surrogate alone', todo('"\\ud83d"')],
    ['a low surrogate alone, deep', todo('[[{"a":"x\\udc00"}]]')],
    ['a surrogate pair the wrong way round', todo('"\\ude00\\ud83d"')],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    [
      'a surrogate as UTF-8 bytes',
      Buffer.concat([Buffer.from('{"queue":"errors","title":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
    ],
    ['a number no double holds', todo('1e400')],
    ['a number with hundreds of digits', todo('9'.repeat(400))],
    ['nesting that exhausts a stack', todo('['.repeat(100_000) + ']'.repeat(100_000))],
    ['nesting in objects', todo(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`)],
  ]

  test.each(UNREADABLE)('%s', async (_, body) => {
    const agent = await api.agent()
    const before = await counted(agent)
    const answer = await make(agent, body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', detail: expect.any(String) } })
    expect(await counted(agent)).toBe(before)
  })
})

describe('a body that only looks odd is kept as it is', () => {
  const KEPT: [string, string][] = [
    ['a key named __proto__', '{"__proto__":{"admin":true},"constructor":{"prototype":1}}'],
    ['a surrogate pair', '"\\ud83d\\ude00"'],
    ['brackets in strings', JSON.stringify('[{'.repeat(500))],
    ['escaped quotes and backslashes', JSON.stringify('\\"["\\\\'.repeat(100))],
    ['an escape that is none', '"\\\\u0000 and \\\\ud800"'],
    ['deep but bounded nesting', '['.repeat(190) + ']'.repeat(190)],
    ['large and small numbers', '[9007199254740991,-1.5e300,1e-300]'],
    ['an empty key', '{"":null}'],
  ]

  test.each(KEPT)('%s', async (_, payload) => {
    const agent = await api.agent()
    const made = await make(agent, todo(payload))
    expect(made.status).toBe(201)
    expect(JSON.stringify(made.body.todo.payload)).toBe(JSON.stringify(JSON.parse(payload)))
    const [claimed] = (await agent.post('/api/v1/todos/claim', { queues: ['errors'], limit: 100 })).body.todos.slice(-1)
    expect(JSON.stringify(claimed.payload)).toBe(JSON.stringify(JSON.parse(payload)))
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  test('but an unknown field of the request is refused, whatever its name', async () => {
    const agent = await api.agent()
    const answer = await make(agent, '{"queue":"errors","title":"A","__proto__":{"title":"B"}}')
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '/__proto__' }] } })
  })
})

describe('a content type', () => {
  test('other than JSON in UTF-8, or an encoded body, is refused', async () => {
    const agent = await api.agent()
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'application/jsonp',
      '',
    ]) {
      const answer = await make(agent, todo('1'), { 'content-type': type })
      expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
    }
    expect((await make(agent, todo('1'), { 'content-encoding': 'gzip' })).status).toBe(415)
    expect((await make(agent, todo('1'), { 'content-type': 'Application/JSON; Charset="UTF-8"' })).status).toBe(201)
  })

  test('is needless where there is no body, which counts as an empty one', async () => {
    const agent = await api.agent()
    expect(await agent.post('/api/v1/todos/claim')).toMatchObject({ status: 200, body: { todos: expect.any(Array) } })
    expect(await agent.post('/api/v1/todos')).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/queue' }, { pointer: '/title' }] },
    })
    for (const body of ['[]', '"text"', '1', 'null'])
      expect((await make(agent, body)).body).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '' }] })
  })
})

describe('a size', () => {
  const MIB = 1024 * 1024
  const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2))

  test('of payload, result or checkpoint up to 1 MiB is taken, more is payload_too_large', async () => {
    const agent = await api.agent()
    expect((await make(agent, todo(text(MIB)))).status).toBe(201)
    const over = await make(agent, todo(text(MIB + 1)))
    expect(over).toMatchObject({ status: 413, body: { code: 'payload_too_large', errors: [{ pointer: '/payload' }] } })
    const wide = JSON.stringify('ä'.repeat(MIB / 2))
    expect((await make(agent, todo(wide))).status).toBe(413)
    const many = { todos: [1, 2].map(() => ({ queue: 'errors', title: 'A', payload: 'x'.repeat(900_000) })) }
    expect((await agent.post('/api/v1/todos/batch', many)).status).toBe(200)
    const one = {
      todos: [
        { queue: 'errors', title: 'A' },
        { queue: 'errors', title: 'A', payload: 'x'.repeat(MIB) },
      ],
    }
    expect(await agent.post('/api/v1/todos/batch', one)).toMatchObject({
      status: 413,
      body: { errors: [{ pointer: '/todos/1/payload' }] },
    })
  })

  test('of a body over 8 MiB is payload_too_large, told or streamed', async () => {
    const agent = await api.agent()
    const big = 'x'.repeat(9 * MIB)
    expect(await make(agent, big)).toMatchObject({ status: 413, body: { code: 'payload_too_large' } })
    const streamed = new ReadableStream({
      start(controller) {
        for (let at = 0; at < 9; at++) controller.enqueue(Buffer.alloc(MIB, 32))
        controller.close()
      },
    })
    const answer = await fetch(`${api.url}/api/v1/todos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
      body: streamed,
      duplex: 'half',
    } as RequestInit)
    expect(answer.status).toBe(413)
    expect((await agent.get('/api/v1/queues')).status).toBe(200)
  })
})

test('a time in any zone is taken, one that PostgreSQL cannot hold is refused', async () => {
  const agent = await api.agent()
  const at = (available_at: string) => agent.post('/api/v1/todos', { queue: 'errors', title: 'A', available_at })
  expect((await at('2030-01-01T12:00:00.5+23:00')).body.todo.available_at).toBe('2029-12-31T13:00:00.500Z')
  for (const time of [
    '1999-12-31T23:59:59Z',
    '9999-12-31T23:59:59-23:00',
    '2030-02-30T00:00:00Z',
    '2030-01-01',
    'now',
    '2030-01-01T00:00:00',
  ]) {
    expect(await at(time)).toMatchObject({ status: 422, body: { errors: [{ pointer: '/available_at' }] } })
  }
})
