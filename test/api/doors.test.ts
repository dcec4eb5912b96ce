import { connect as connectTcp } from 'node:net'
import { describe, expect, test } from 'vitest'
import { door, PATIENT } from './door'

const api = door()
const guarded = door({ metricsToken: 'a-token-for-metrics' })

const FORWARDED = { 'x-forwarded-for': '203.0.113.9' }

describe('liveness and readiness', () => {
  test('are told to everybody', async () => {
    expect(await api.send('GET', '/healthz', { headers: FORWARDED })).toMatchObject({
      status: 200,
      body: { status: 'ok' },
    })
    await expect.poll(async () => (await api.send('GET', '/readyz')).body.listener, PATIENT).toBe('listening')
    const { status, body } = await api.send('GET', '/readyz', { headers: FORWARDED })
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: 'ready',
        database: true,
        migrations: { build: body.migrations.build, database: body.migrations.build, matches: true },
        listener: 'listening',
      },
    })
    expect(body.migrations.build).toMatch(/^\d{14}_/)
  })

  test('a database of another revision is named, refuses writes, and takes them again by itself', async () => {
    const agent = await api.agent()
    const write = () => agent.post('/api/v1/todos', { queue: 'revision', title: 'A' })
    expect((await write()).status).toBe(201)
    await api.sql`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '99990101000000_later', now())`
    await expect.poll(async () => (await write()).status, PATIENT).toBe(503)
    const refused = await write()
    expect(refused.body).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('99990101000000_later') })
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await api.send('GET', '/readyz')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', migrations: { matches: false, database: '99990101000000_later' } },
    })
    expect((await agent.get('/api/v1/todos')).status).toBe(200)
    await api.sql`DELETE FROM _prisma_migrations WHERE id = 'x'`
    await expect.poll(async () => (await write()).status, PATIENT).toBe(201)
  })
})

describe('metrics', () => {
  test('are told on this machine, with how long requests took by route', async () => {
    const agent = await api.agent()
    await agent.get('/api/v1/todos?limit=1')
    await agent.get('/api/v1/no-such-thing')
    const { status, headers, body } = await api.send('GET', '/metrics')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(body).toMatch(
      /switchboard_http_request_seconds_count\{route="\/api\/v1\/todos",method="GET",status="200"\} \d+/,
    )
    expect(body).toMatch(/switchboard_http_request_seconds_count\{route="unmatched",method="GET",status="404"\} \d+/)
    expect(body).toContain('switchboard_listener_up 1')
    expect(body).not.toContain(agent.caller.id)
  })

  test('are told elsewhere only to who brings their token', async () => {
    for (const name of ['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'via', 'x-real-ip']) {
      const headers = { [name]: '203.0.113.9' }
      expect(await api.send('GET', '/metrics', { headers })).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    for (const authorization of ['', 'Bearer wrong', 'a-token-for-metrics']) {
      expect((await guarded.send('GET', '/metrics', { headers: { authorization } })).status).toBe(401)
    }
    const headers = { ...FORWARDED, authorization: 'Bearer a-token-for-metrics' }
    expect((await guarded.send('GET', '/metrics', { headers })).status).toBe(200)
  })
})

describe('the reference', () => {
  test('shows every operation and refusal to everybody, under a policy that lets nothing else in', async () => {
    const { status, headers, body } = await api.send('GET', '/docs', { headers: FORWARDED })
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: 'text/html; charset=utf-8' })
    for (const anchor of ['enqueue', 'answerInterrupt', 'lease_lost', 'shape-Todo'])
      expect(body).toContain(`id="${anchor}"`)
    const [, nonce] = /style-src 'nonce-([^']+)'/.exec(headers.get('content-security-policy') ?? '') ?? []
    expect(body).toContain(`<style nonce="${nonce}">`)
    expect(body).not.toMatch(/<script|<link|<img|style=/)
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(body.match(/href="#([^"]+)"/g).every((link: string) => body.includes(`id="${link.slice(7, -1)}"`))).toBe(
      true,
    )
  })

  test('and the other doors take only GET and HEAD', async () => {
    for (const path of ['/docs', '/healthz', '/readyz', '/metrics']) {
      const { status, headers } = await api.send('POST', path)
      expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD' })
      expect(await api.send('HEAD', path)).toMatchObject({ status: 200, body: '' })
    }
  })
})

test('an address of the API is taken as it is written', async () => {
  for (const path of ['/api/v1/', '/api/v1/todos/', '/api/v1//todos', '/api/v1/./todos/%2e%2e']) {
    expect(await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 404 /)
  }
})

test('a malformed escape is refused, wherever it stands', async () => {
  const agent = await api.agent()
  for (const path of ['todos?q=%zz', 'todos?q=%ff', 'todos?%=1', 'todos/%zz', 'todos/%c0%af']) {
    expect(await agent.get(`/api/v1/${path}`)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  }
})

/** What the server answers to these very bytes. */
const raw = (text: string) =>
  new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(api.url)
    const socket = connectTcp(Number(port), hostname, () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('end', () => resolve(answer))
    socket.on('error', reject)
  })
