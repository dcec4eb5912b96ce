import { afterAll, describe, expect, test } from 'vitest'
import { createEndpoint } from '#lib/auth/endpoints'
import { ROLES, type Role, SCOPES } from '#lib/wire/caller'
import type { Operation } from '#lib/wire/operation'
import { OPERATIONS } from '#lib/wire/operations'
import { database } from '../support/database'
import { given } from '../support/given'
import { browse, type Human, signedIn } from '../support/people'
import { startProxy } from '../support/proxy'
import { PLAIN, serveAt, site } from '../support/site'

const { db, sql, url: databaseUrl } = database()
const here = site(databaseUrl)

const NOBODY = '00000000-0000-7000-8000-000000000000'
const PATHS: Record<string, string> = { '{id}': NOBODY, '{key}': 'max_attempts' }

const operations = Object.entries<Operation>(OPERATIONS).map(([name, operation]) => ({
  name,
  operation,
  path: operation.path.replaceAll(/\{\w+\}/g, (part) => PATHS[part] ?? part),
}))

/** Who may, by the table alone. */
function mayRole({ scopes, role }: Operation, own: Role): boolean {
  return scopes === 'open' || (role !== undefined && ROLES.indexOf(own) >= ROLES.indexOf(role))
}

describe('every operation', () => {
  test('that is not open refuses nobody in particular with unauthenticated', async () => {
    for (const { name, operation, path } of operations) {
      const { status, body } = await browse(`${here.url}${path}`, operation.method)
      expect({ name, refused: status === 401 && body.code === 'unauthenticated' }).toEqual({
        name,
        refused: operation.scopes !== 'open',
      })
    }
  })

  test.each(ROLES)('opens to a %s who may by the table, and to no other', async (role) => {
    const human = await signedIn(db, here.url, role)
    for (const { name, operation, path } of operations) {
      const { status, body } = await human.send(operation.method, path, { headers: { origin: here.url } })
      const refused = status === 403 && body.code === 'forbidden'
      expect({ name, refused }).toEqual({ name, refused: !mayRole(operation, role) })
      expect(status).not.toBe(401)
      expect(status).toBeLessThan(500)
    }
  })

  test.each(SCOPES)('opens to a token with scope %s that may by the table, and to no other', async (scope) => {
    const { token } = await createEndpoint(db, { name: `only-${scope}`, scopes: [scope] })
    const headers = { authorization: `Bearer ${token}` }
    for (const { name, operation, path } of operations) {
      const { status, body } = await browse(`${here.url}${path}`, operation.method, { headers })
      const may = operation.scopes === 'open' || operation.scopes.includes(scope)
      const refused = status === 403 && body.code === 'forbidden'
      expect({ name, refused }).toEqual({ name, refused: !may })
    }
  })

  test('gives a person every role above what it gives the one below', () => {
    const rights = ROLES.map((role) => operations.filter(({ operation }) => mayRole(operation, role)).length)
    expect(rights).toEqual([...rights].sort((a, b) => a - b))
    expect(new Set(rights).size).toBe(ROLES.length)
  })
})

describe('a person', () => {
  test('answers a question, once, and is known as who answered', async () => {
    const human = await signedIn(db, here.url, 'responder')
    const { interruptId } = await given(db, 'input-required')
    const answer = (text: string, by: Human = human) =>
      by.send('POST', `/api/v1/interrupts/${interruptId}/answer`, {
        json: { content: { answer: text } },
        headers: { origin: here.url },
      })
    const first = await answer('the first')
    const answeredBy = `user:${human.person.id}`
    expect(first).toMatchObject({
      status: 200,
      body: { interrupt: { status: 'answered', answered_by: answeredBy, channel: 'web' } },
    })
    expect((await answer('the first')).status).toBe(200)
    const other = await signedIn(db, here.url, 'operator')
    expect(await answer('the second', other)).toMatchObject({
      status: 409,
      body: { code: 'already_answered', answered_by: answeredBy, answered_at: first.body.interrupt.answered_at },
    })
    const { body } = await other.send('GET', '/api/v1/people/names')
    expect(body.names).toContainEqual({ id: human.person.id, name: human.person.name })
  })

  test('sees every queue, and enqueues, cancels and requeues as an operator', async () => {
    const human = await signedIn(db, here.url, 'operator')
    const post = (path: string, json: object = {}) => human.send('POST', path, { json, headers: { origin: here.url } })
    const made = await post('/api/v1/todos', { queue: 'people', title: 'By hand' })
    const { id } = made.body.todo
    expect(made.status).toBe(201)
    expect((await post(`/api/v1/todos/${id}/cancel`, { reason: 'Not needed' })).body.todo.state).toBe('canceled')
    expect((await post(`/api/v1/todos/${id}/requeue`)).body.todo.state).toBe('pending')
    expect((await human.send('GET', '/api/v1/todos?queue=people')).body.todos).toHaveLength(1)
    const actors = await sql`SELECT DISTINCT actor FROM todo_events WHERE todo_id = ${id}`
    expect(actors).toEqual([{ actor: `user:${human.person.id}` }])
  })

  test('whose browser also sends a foreign Authorization is still that person; a token goes before a cookie', async () => {
    const human = await signedIn(db, here.url)
    const basic = await human.send('GET', '/api/v1/me', { headers: { authorization: 'Basic dXNlcjpwYXNz' } })
    expect(basic.body.person.id).toBe(human.person.id)
    const { token } = await createEndpoint(db, { name: 'beside', scopes: ['read'], queues: ['one'] })
    const both = await human.send('GET', '/api/v1/me', { headers: { authorization: `Bearer ${token}` } })
    expect(both.body).toEqual({
      person: null,
      endpoint: { id: expect.any(String), name: 'beside', queues: ['one'] },
      role: null,
      scopes: ['read'],
    })
    const bad = await human.send('GET', '/api/v1/me', { headers: { authorization: 'Bearer sbk_wrong' } })
    expect(bad.status).toBe(401)
  })

  test('who signs out while a call waits gets no more from it', async () => {
    const human = await signedIn(db, here.url)
    const { id } = await given(db, 'claimed')
    const waiting = human.send('GET', `/api/v1/todos/${id}?wait_seconds=1`)
    await expect
      .poll(async () => (await sql`SELECT 1 FROM sessions WHERE person_id = ${human.person.id}`).length)
      .toBe(1)
    await human.send('POST', '/api/auth/sign-out', { headers: { origin: here.url } })
    expect((await waiting).status).toBe(401)
  })
})

describe('while the database is away', () => {
  const stops: (() => Promise<void>)[] = []
  afterAll(() => Promise.all(stops.map((stop) => stop())))

  test('nobody is let in, nobody is thrown out, and all is as before when it is back', async () => {
    const proxy = await startProxy(databaseUrl)
    const away = await serveAt(proxy.url, PLAIN)
    stops.push(away.stop, async () => proxy.cut())
    const human = await signedIn(db, away.url)
    await proxy.close()
    const headers = { origin: away.url }
    for (const answer of [
      await human.send('GET', '/api/v1/me'),
      await human.send('POST', '/api/auth/sign-out', { headers }),
      await browse(`${away.url}/api/auth/sign-in/email`, 'POST', {
        json: { email: human.person.email, password: 'not the password' },
        headers,
      }),
      await human.send('GET', '/board'),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
      expect(answer.cookies.size).toBe(0)
    }
    const page = await human.send('GET', '/board', { headers: { accept: 'text/html' } })
    expect(page).toMatchObject({ status: 503, body: expect.stringContaining('Not available at the moment') })
    await proxy.open()
    expect((await human.send('GET', '/api/v1/me')).body.person.id).toBe(human.person.id)
  })
})
