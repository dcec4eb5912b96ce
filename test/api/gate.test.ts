import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { isStatic } from '#lib/api/gate-paths'
import { tellVisitor, visitorOf } from '#lib/api/page-visit'
import type { Pages } from '#lib/api/pages'
import type { PersonCaller } from '#lib/wire/caller'
import { localPath } from '#lib/wire/local-path'
import { database } from '../support/database'
import { browse, type Human, signedIn } from '../support/people'
import { PLAIN, serveAt, site } from '../support/site'

/** In Next's place: tells what it was asked for, and who it was told visits. */
const pages: Pages = {
  show: async (req: IncomingMessage, res: ServerResponse, person: PersonCaller | null) => {
    tellVisitor(req.headers, person)
    const headers = new Headers(
      Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]),
    )
    res
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`shown ${req.url} to ${visitorOf(headers)?.name ?? 'nobody'}`)
  },
  close: async () => {},
}

const { db, sql, url: databaseUrl } = database()
const here = site(databaseUrl, { pages })

const DOCUMENT = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const RSC = { accept: '*/*', rsc: '1', 'next-router-state-tree': '%5B%22%22%2C%7B%7D%5D' }

const PATHS = [
  '/',
  '/board',
  '/board?queue=a&todo=1',
  '/inbox',
  '/inbox/1',
  '/todos/1',
  '/settings',
  '/health',
  '/nothing',
  '/sign-in/',
  '/sign-in/x',
  '/SIGN-IN',
  '/welcome',
  '/welcome/',
  '/welcome/a/b',
  '/_next/image?url=x',
  '/_next/data/x/board.json',
  '/_next/static/../../board',
  '/_next/static/%2e%2e/%2e%2e/board',
  '/_next/static/..%2f..%2fboard',
  '/_next/static//board',
  '//board',
  '/%62oard',
  '/favicon.ico',
  '/api',
  '/api/other',
]

describe('a stranger', () => {
  test.each(PATHS)('gets nothing of %s', async (path) => {
    const document = await raw('GET', path, DOCUMENT)
    expect(document.status).toBe(303)
    expect(document.location).toMatch(/^\/sign-in(\?next=%2F(?!%2F)[^&]*)?$/)
    for (const [method, headers] of [
      ['GET', {}],
      ['GET', RSC],
      ['HEAD', {}],
      ['POST', DOCUMENT],
      ['POST', { 'next-action': 'x' }],
      ['PUT', {}],
      ['OPTIONS', {}],
    ] as const) {
      expect({ method, status: (await raw(method, path, headers)).status }).toEqual({ method, status: 401 })
    }
  })

  test('is sent to sign in, to come back to what was wanted', async () => {
    const wanted = await browse(`${here.url}/inbox/1?a=b%20c&d`, 'GET', { headers: DOCUMENT })
    expect(wanted.headers.get('location')).toBe(`/sign-in?next=${encodeURIComponent('/inbox/1?a=b%20c&d')}`)
    expect(wanted.headers.get('cache-control')).toBe('no-store')
    expect((await browse(`${here.url}/`, 'GET', { headers: DOCUMENT })).headers.get('location')).toBe('/sign-in')
  })

  test('sees what is for all: signing in, a welcome, and the files pages need', async () => {
    for (const path of [
      '/sign-in',
      '/sign-in?next=%2Finbox',
      '/welcome/abc_-123',
      '/icon.svg',
      '/_next/static/chunks/a%5Bb%5D.js',
    ]) {
      const answer = await browse(`${here.url}${path}`, 'GET', { headers: DOCUMENT })
      expect({ path, status: answer.status, body: answer.body }).toEqual({
        path,
        status: 200,
        body: `shown ${path} to nobody`,
      })
    }
    for (const path of ['/sign-in', '/welcome/abc'])
      expect((await browse(`${here.url}${path}`, 'POST')).status).toBe(401)
    expect((await browse(`${here.url}/icon.svg`, 'POST')).status).toBe(405)
  })

  test('is not let in by a mark of its own, nor by sitting at this machine', async () => {
    const person = Buffer.from(JSON.stringify({ type: 'person', name: 'Eve', role: 'admin' })).toString('base64url')
    for (const mark of ['x', `x.${person}`, `.${person}`]) {
      const headers = { ...DOCUMENT, 'x-switchboard-visit': mark }
      expect((await browse(`${here.url}/board`, 'GET', { headers })).status).toBe(303)
      expect((await browse(`${here.url}/sign-in`, 'GET', { headers })).body).toBe('shown /sign-in to nobody')
    }
  })
})

describe('somebody who has signed in', () => {
  const get = (human: Human, path: string, headers: Record<string, string> = DOCUMENT) =>
    human.send('GET', path, { headers })

  test('sees the pages from anywhere, and these know who it is', async () => {
    const human = await signedIn(db, here.url)
    const forwarded = { ...DOCUMENT, 'x-forwarded-for': '203.0.113.7', host: 'board.example' }
    for (const headers of [DOCUMENT, RSC, forwarded]) {
      expect((await get(human, '/board?a=1', headers)).body).toBe(`shown /board?a=1 to ${human.person.name}`)
    }
  })

  test('may only read them: another method is refused with those there are', async () => {
    const human = await signedIn(db, here.url)
    for (const path of ['/board', '/todos/1', '/', '/sign-in', '/welcome/abc', '/nothing', '/icon.svg'])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { status, headers, body } = await human.send(method, path, { headers: { origin: here.url } })
        expect({ path, method, status, allow: headers.get('allow') }).toEqual({
          path,
          method,
          status: 405,
          allow: 'GET, HEAD',
        })
        expect(body).toMatchObject({ code: 'method_not_allowed', request_id: headers.get('x-request-id') })
      }
  })

  test('goes from the root to the board, and from signing in to what was wanted, if it is ours', async () => {
    const human = await signedIn(db, here.url)
    const sent = async (path: string) => (await get(human, path)).headers.get('location')
    expect(await sent('/')).toBe('/board')
    expect(await sent('/sign-in')).toBe('/board')
    expect(await sent('/sign-in?next=%2Finbox%2F1%3Fa%3Db')).toBe('/inbox/1?a=b')
    for (const next of [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/%09/evil.example',
      'javascript:alert(1)',
    ]) {
      const to = await sent(`/sign-in?next=${encodeURIComponent(next)}`)
      expect(new URL(to ?? '', here.url).origin).toBe(here.url)
    }
  })

  test('sees nothing any more once signed out', async () => {
    const human = await signedIn(db, here.url)
    await human.send('POST', '/api/auth/sign-out', { headers: { origin: here.url } })
    expect((await get(human, '/board')).headers.get('location')).toBe('/sign-in?next=%2Fboard')
    expect((await get(human, '/board', RSC)).status).toBe(401)
  })

  test('stays signed in by visiting: a session older than a day is renewed, with its cookie', async () => {
    const human = await signedIn(db, here.url)
    expect((await get(human, '/board')).cookies.size).toBe(0)
    await sql`UPDATE sessions SET updated_at = now() - interval '25 hours', expires_at = now() + interval '13 days' - interval '1 hour'`
    const visit = await get(human, '/board')
    expect(visit.cookies.get('switchboard.session_token')).toMatch(/Max-Age=1209600/)
    const [session] = await sql<{
      days: number
    }>`SELECT extract(epoch FROM expires_at - now())::float8 / 86400 AS days FROM sessions WHERE person_id = ${human.person.id}`
    expect(session?.days).toBeGreaterThan(13.99)
    expect((await get(human, '/board')).cookies.size).toBe(0)
  })
})

test('where there are no pages, whoever may see them is told so', async () => {
  const bare = await serveAt(databaseUrl, PLAIN)
  try {
    const human = await signedIn(db, bare.url)
    expect((await human.send('GET', '/board', { headers: DOCUMENT })).status).toBe(404)
    expect((await browse(`${bare.url}/board`, 'GET', { headers: DOCUMENT })).status).toBe(303)
  } finally {
    await bare.stop()
  }
})

describe('a way back', () => {
  test.each(['/', '/board', '/inbox/1?a=b&c=%2F#x', '/todos?next=https://evil.example', '/a//b'])(
    'may be %s',
    (path) => {
      expect(localPath(path)).toBe(path)
    },
  )

  test.each([
    '',
    'board',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\tevil',
    ' /board',
    '/board\r\nSet-Cookie: a=b',
    'https://evil.example',
    'javascript:alert(1)',
    '/./..//evil.example',
    '/api/v1/todos',
    '/_next/x',
    '/ä',
    undefined,
    null,
    1,
    ['/board'],
  ])('may not be %j', (path) => {
    expect(localPath(path)).toBeNull()
  })
})

test('only the files of a build are files for all', () => {
  expect(
    ['/_next/static/chunks/app/%28people%29/page-1.js', '/_next/static/media/a~b.woff2', '/icon.svg'].map(isStatic),
  ).toEqual([true, true, true])
  expect(
    [
      '/_next/static',
      '/_next/static/a/../b',
      '/_next/static/a%2Fb',
      '/_next/static/a\\b',
      '/_next/static/./a',
      '/icon.svg/',
    ].map(isStatic),
  ).toEqual(Array(6).fill(false))
})

/** Sends a path as it is: fetch would tidy it up first. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; location: string | null }> {
  const { hostname, port } = new URL(here.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const lines = Object.entries({ host: `${hostname}:${port}`, connection: 'close', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    let said = ''
    socket.on('data', (part) => {
      said += part
    })
    socket.once('error', reject)
    socket.once('close', () => {
      resolve({ status: Number(said.split(' ')[1]), location: /^location: (.*)\r$/im.exec(said)?.[1] ?? null })
    })
    socket.write(`${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`)
  })
}
