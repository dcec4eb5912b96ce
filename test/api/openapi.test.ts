import type { ErrorObject } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, test } from 'vitest'
import { inviteFirstAdmin } from '#lib/auth/invitations'
import { ERRORS } from '#lib/model/errors'
import type { Operation } from '#lib/wire/operation'
import { OPERATIONS } from '#lib/wire/operations'
import { given } from '../support/given'
import { PASSWORD, signedIn } from '../support/people'
import { type Agent, door, type Reply } from './door'

const api = door()

// biome-ignore lint/suspicious/noExplicitAny: the document is walked by name
let document: any

beforeAll(async () => {
  document = (await api.send('GET', '/api/v1/openapi.json')).body
})

test('every operation stands in the document under its name, with all it can answer', () => {
  for (const [name, operation] of Object.entries<Operation>(OPERATIONS)) {
    const described = document.paths[operation.path]?.[operation.method.toLowerCase()]
    expect(described?.operationId).toBe(name)
    expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(Object.keys(operation.answers)))
    for (const code of operation.refuses ?? []) {
      expect(described.responses[ERRORS[code].status].description).toContain(code)
    }
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    const parameters = (described.parameters ?? []).filter((one: { in: string }) => one.in === 'path')
    expect(parameters.map((one: { name: string }) => one.name)).toEqual(inPath)
  }
  const described = Object.values<object>(document.paths).flatMap((path) => Object.keys(path))
  expect(described).toHaveLength(Object.keys(OPERATIONS).length)
})

test('every reference leads to a component, and every component is a JSON Schema', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)) {
    const [kind, name] = (reference as string).split('/') as [string, string]
    expect(document.components[kind]).toHaveProperty([name])
  }
  for (const schema of Object.values(document.components.schemas))
    expect(ajv.validateSchema(schema as object)).toBe(true)
})

describe('answers', () => {
  let validate: (reference: string, value: unknown) => string[]

  beforeAll(() => {
    const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }))
    ajv.addSchema(document, 'api')
    validate = (reference, value) => {
      const check = ajv.getSchema(`api${reference}`)
      if (!check) throw new Error(`There is no ${reference}`)
      check(value)
      return (check.errors ?? []).map((error: ErrorObject) => `${error.instancePath} ${error.message}`)
    }
  })

  /** What is wrong with an answer by the document's own words. */
  function wrongs(method: string, path: string, reply: Reply): string[] {
    const response = document.paths[path][method.toLowerCase()].responses[reply.status]
    if (!response) return [`${method} ${path} gave ${reply.status}`]
    const type = reply.headers.get('content-type') ?? ''
    if (type === 'text/event-stream') return response.content[type] ? [] : [`${method} ${path} gave ${type}`]
    return validate(response.content[type].schema.$ref, reply.body)
  }

  test('of every kind are as the document says, and are plain JSON', async () => {
    const agent = await api.agent()
    const replies: [string, string, Reply][] = []
    for await (const one of calls(agent)) replies.push(one)
    expect(replies.flatMap(([method, path, reply]) => wrongs(method, path, reply))).toEqual([])
    const missing = Object.values<Operation>(OPERATIONS).filter(
      ({ method, path }) =>
        path !== '/api/v1/openapi.json' &&
        !replies.some(([m, p, { status }]) => m === method && p === path && status < 300),
    )
    expect(missing).toEqual([])
  })
})

/** One good call of every operation, and some that are refused. */
async function* calls(agent: Agent): AsyncGenerator<[string, string, Reply]> {
  const todo = '/api/v1/todos/{id}'
  const worker = agent.caller
  const on = async (
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    { id, json = {} }: { id?: string; json?: object },
  ): Promise<[string, string, Reply]> => {
    const at = id ? path.replace('{id}', id) : path
    return [method, path, await (method === 'GET' ? agent.get(at) : agent.send(method, at, { json }))]
  }
  const lease = { lease_epoch: 1 }
  const held = async () => (await given(api.db, 'claimed', { worker })).id
  const asked = await given(api.db, 'input-required', {
    worker,
    failures: 1,
    question: { schema: { type: 'object', properties: { a: { type: 'string' } } } },
  })
  yield on('POST', '/api/v1/todos', {
    json: { queue: 'doc', title: 'A', idempotency_key: 'k', payload: { a: [1, null] } },
  })
  yield on('POST', '/api/v1/todos', { json: { queue: 'doc', title: 'A', idempotency_key: 'k' } })
  yield on('POST', '/api/v1/todos', { json: {} })
  yield on('POST', '/api/v1/todos/batch', { json: { todos: [{ queue: 'doc', title: 'B' }] } })
  yield on('GET', '/api/v1/todos', {})
  yield on('POST', '/api/v1/todos/claim', { json: { queues: ['doc'], limit: 10 } })
  yield on('POST', `${todo}/claim`, { id: (await given(api.db, 'pending')).id })
  yield on('POST', `${todo}/claim`, { id: asked.id })
  yield on('GET', todo, { id: asked.id })
  yield on('GET', todo, { id: '00000000-0000-7000-8000-000000000000' })
  yield on('GET', `${todo}/events`, { id: asked.id })
  yield on('POST', `${todo}/heartbeat`, { id: await held(), json: lease })
  yield on('POST', `${todo}/heartbeat`, { id: asked.id, json: lease })
  yield on('POST', '/api/v1/todos/batch/heartbeat', { json: { items: [{ id: await held(), ...lease }] } })
  yield on('POST', '/api/v1/todos/batch/complete', {
    json: {
      items: [
        { id: await held(), ...lease },
        { id: asked.id, ...lease },
      ],
    },
  })
  yield on('POST', `${todo}/complete`, { id: await held(), json: { ...lease, result: { a: 1 } } })
  yield on('POST', `${todo}/fail`, {
    id: await held(),
    json: { ...lease, error: { code: 'a', message: 'b', data: [1] } },
  })
  yield on('POST', `${todo}/release`, { id: await held(), json: lease })
  yield on('POST', `${todo}/interrupt`, { id: await held(), json: { ...lease, title: 'Why?' } })
  yield on('POST', `${todo}/cancel`, { id: await held() })
  yield on('POST', `${todo}/reject`, { id: (await given(api.db, 'pending')).id })
  yield on('POST', `${todo}/requeue`, { id: (await given(api.db, 'failed')).id })
  const mine = await given(api.db, 'input-required', { worker })
  yield on('POST', `${todo}/resume`, {
    id: mine.id,
    json: { ...lease, interrupt_id: mine.interruptId, content: { answer: 'x' } },
  })
  yield on('POST', `${todo}/park`, { id: (await given(api.db, 'input-required', { worker })).id, json: lease })
  const parent = (await given(api.db, 'claimed', { worker })).id
  yield on('POST', '/api/v1/todos', { json: { queue: 'doc', title: 'Part', parent_id: parent, parent_epoch: 1 } })
  yield on('POST', '/api/v1/todos', { json: { queue: 'doc', title: 'Part', parent_id: parent, parent_epoch: 7 } })
  yield on('POST', `${todo}/wait`, { id: parent, json: { ...lease, usage: { tokens: 5 } } })
  yield on('POST', `${todo}/wait`, { id: await held(), json: lease })
  yield on('GET', `${todo}/children`, { id: parent })
  yield on('GET', todo, { id: parent })
  yield on('PATCH', todo, { id: parent, json: { priority: 3, version: 4 } })
  const spending = (await given(api.db, 'claimed', { worker, todo: { budget: { max_tokens: 1 } } })).id
  yield on('POST', `${todo}/interrupt`, { id: spending, json: { ...lease, title: 'Why?', usage: { tokens: 2 } } })
  const acting = await held()
  yield on('POST', `${todo}/effects`, { id: acting, json: { ...lease, key: '{key}', idempotent: false } })
  yield on('POST', `${todo}/effects`, { id: acting, json: { ...lease, key: '{key}', idempotent: false } })
  yield on('POST', `${todo}/effects/{key}`, { id: acting, json: { ...lease, status: 'confirmed', result: [1] } })
  yield on('GET', '/api/v1/interrupts', {})
  yield on('GET', '/api/v1/interrupts/{id}', { id: asked.interruptId })
  yield on('POST', '/api/v1/interrupts/{id}/answer', { id: asked.interruptId, json: { content: { a: 'b' } } })
  yield on('POST', '/api/v1/interrupts/{id}/answer', { id: asked.interruptId, json: { content: { a: 'c' } } })
  yield* callsOfBulk(on)
  yield on('GET', '/api/v1/queues', {})
  yield on('GET', '/api/v1/events', {})
  yield on('GET', '/api/v1/me', {})
  yield* callsOfPeople()
}

type On = (
  method: 'GET' | 'POST',
  path: string,
  given: { id?: string; json?: object },
) => Promise<[string, string, Reply]>

async function* callsOfBulk(on: On): AsyncGenerator<[string, string, Reply]> {
  const { id } = await given(api.db, 'pending')
  const ordered = await on('POST', '/api/v1/todos/bulk', { json: { action: 'cancel', ids: [id] } })
  yield ordered
  const run = { id: ordered[2].body.bulk_id }
  yield on('POST', '/api/v1/todos/bulk', { json: { action: 'cancel', filter: {} } })
  yield on('GET', '/api/v1/bulk', {})
  yield on('GET', '/api/v1/bulk/{id}', run)
  yield on('GET', '/api/v1/bulk/{id}', { id })
  yield on('GET', '/api/v1/bulk/{id}/results', run)
  yield on('POST', '/api/v1/bulk/{id}/cancel', run)
}

async function* callsOfPeople(): AsyncGenerator<[string, string, Reply]> {
  const token = (await inviteFirstAdmin(api.db)) as string
  const admin = await signedIn(api.db, api.url, 'viewer')
  const send = async (method: string, path: string, at = path, json?: object): Promise<[string, string, Reply]> => [
    method,
    path,
    await admin.send(method, at, { ...(json ? { json } : {}), headers: { origin: api.url } }),
  ]
  yield send('GET', '/api/v1/settings')
  const newcomer = { token, name: 'Ada', email: 'ada@example.test', password: PASSWORD }
  yield send('POST', '/api/v1/invitations/accept', undefined, newcomer)
  yield send('POST', '/api/v1/invitations/accept', undefined, newcomer)
  await api.db.query({ text: `UPDATE people SET role = 'admin' WHERE id = $1`, values: [admin.person.id] })
  yield send('GET', '/api/v1/me')
  yield send('GET', '/api/v1/people/names')
  const [one, preview] = ['/api/v1/settings/{key}', '/api/v1/settings/{key}/preview']
  yield send('PUT', one, '/api/v1/settings/max_attempts', { value: '0', version: 0 })
  yield send('PUT', one, '/api/v1/settings/max_attempts', { value: '4', version: 0 })
  yield send('GET', '/api/v1/settings')
  yield send('GET', preview, '/api/v1/settings/interrupt_lease_ttl_seconds/preview?value=59')
}
