import { beforeEach, describe, expect, test } from 'vitest'
import { hasAdmin } from '#lib/auth/people'
import { database } from '../support/database'
import { browse, cookieOf, PASSWORD, type Seen, signedIn, signIn, somebody } from '../support/people'
import { PLAIN, serveAt, site } from '../support/site'

const { db, sql, url: databaseUrl } = database()
const here = site(databaseUrl)

beforeEach(() => db.query({ text: 'DELETE FROM rate_limits' }))

const me = (cookie: string, url = here.url) => browse(`${url}/api/v1/me`, 'GET', { headers: { cookie } })

describe('somebody who knows address and password', () => {
  test('gets a session that no script can read and no other site can send along', async () => {
    const person = await somebody(db, 'responder')
    const answer = await signIn(here.url, person.email)
    expect(answer).toMatchObject({ status: 200, body: { person } })
    expect([...answer.cookies.keys()]).toEqual(['switchboard.session_token'])
    const attributes = answer.cookies
      .get('switchboard.session_token')
      ?.split('; ')
      .slice(1)
      .map((one) => one.toLowerCase())
    expect(attributes).toEqual(expect.arrayContaining(['httponly', 'samesite=lax', 'path=/']))
    expect(attributes).not.toContain('secure')
    const { id, name, email } = person
    expect((await me(cookieOf(answer))).body).toEqual({
      person: { id, name, email },
      endpoint: null,
      role: 'responder',
      scopes: null,
    })
  })

  test('signs in whatever the case of the address', async () => {
    const { email } = await somebody(db)
    expect((await signIn(here.url, email.toUpperCase())).status).toBe(200)
  })

  test('gets no token that could be told on, only the cookie', async () => {
    const answer = await signIn(here.url, (await somebody(db)).email)
    const [session] = await sql<{ token: string }>`SELECT token FROM sessions ORDER BY created_at DESC LIMIT 1`
    expect(JSON.stringify(answer.body)).not.toContain(session?.token)
  })
})

describe('a sign-in that fails', () => {
  const asSeen = ({ status, body: { request_id: _, ...body }, cookies, headers }: Seen) => ({
    status,
    body,
    cookies: [...cookies.keys()],
    type: headers.get('content-type'),
  })

  test('answers the same for a wrong password, an unknown address and a person without a password', async () => {
    const { email } = await somebody(db)
    const without = await somebody(db)
    await sql`UPDATE accounts SET password = NULL WHERE person_id = ${without.id}`
    const wrong = asSeen(await signIn(here.url, email, 'not the password'))
    expect(wrong).toEqual({
      status: 401,
      type: 'application/problem+json',
      cookies: [],
      body: {
        type: '/docs#unauthenticated',
        title: 'Who are you?',
        status: 401,
        code: 'unauthenticated',
        detail: 'The e-mail address or the password is wrong',
      },
    })
    expect(asSeen(await signIn(here.url, 'nobody@example.test', 'not the password'))).toEqual(wrong)
    expect(asSeen(await signIn(here.url, without.email, 'not the password'))).toEqual(wrong)
  })

  test('takes about as long for an unknown address as for a wrong password', async () => {
    const { email } = await somebody(db)
    const timed = async (address: string) => {
      const began = performance.now()
      await signIn(here.url, address, 'not the password')
      return performance.now() - began
    }
    const known = Math.min(await timed(email), await timed(email))
    const unknown = Math.min(await timed('nobody@example.test'), await timed('somebody@example.test'))
    // Without the hash an unknown address would be answered in a tenth of the time.
    expect(unknown).toBeGreaterThan(known / 3)
  })

  test.each([
    ['no address', { password: PASSWORD }, '/email'],
    ['no password', { email: 'a@example.test' }, '/password'],
    ['what is no address', { email: 'a', password: PASSWORD }, '/email'],
    ['a list', [], ''],
    [
      'more than is asked for',
      { email: 'a@example.test', password: PASSWORD, callbackURL: 'https://evil.example' },
      '/callbackURL',
    ],
  ])('because of %s says what to send', async (_, json, pointer) => {
    const answer = await browse(`${here.url}/api/auth/sign-in/email`, 'POST', { json, headers: { origin: here.url } })
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_failed', errors: [{ pointer }] } })
  })

  test('because of a form of another kind is refused', async () => {
    const body = new URLSearchParams({ email: 'a@example.test', password: PASSWORD })
    const answer = await fetch(`${here.url}/api/auth/sign-in/email`, {
      method: 'POST',
      body,
      headers: { origin: here.url },
    })
    expect(answer.status).toBe(415)
  })

  test('ten times a minute from one address is not tried again, whoever the address says it is', async () => {
    const { email } = await somebody(db)
    expect((await signIn(here.url, email, 'not the password')).status).toBe(401)
    const [{ count }] = (await sql`UPDATE rate_limits SET count = count + 8 RETURNING count`) as [{ count: number }]
    expect(count).toBe(9)
    expect((await signIn(here.url, email, 'not the password')).status).toBe(401)
    const forged = {
      'x-forwarded-for': '203.0.113.9',
      'x-switchboard-address': '203.0.113.10',
      'x-real-ip': '203.0.113.11',
    }
    for (const headers of [{}, forged]) {
      const refused = await signIn(here.url, email, PASSWORD, headers)
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(refused.cookies.size).toBe(0)
    }
  })
})

test('behind a trusted proxy each client has its own limit, and nobody can choose it', async () => {
  const behind = await serveAt(databaseUrl, { ...PLAIN, proxies: 1 })
  try {
    const { email } = await somebody(db)
    const from = (heard: string, password = 'not the password') =>
      signIn(behind.url, email, password, { 'x-forwarded-for': heard })
    for (let n = 0; n < 2; n++) expect((await from(`198.51.100.${n}, 203.0.113.1`)).status).toBe(401)
    expect(await sql`UPDATE rate_limits SET count = count + 8 WHERE count = 2 RETURNING count`).toEqual([{ count: 10 }])
    expect((await from('198.51.100.77, 203.0.113.1', PASSWORD)).status).toBe(429)
    expect((await from('203.0.113.1, 203.0.113.2', PASSWORD)).status).toBe(200)
    const [{ ip_address }] = (await sql`SELECT ip_address FROM sessions ORDER BY created_at DESC LIMIT 1`) as [
      { ip_address: string },
    ]
    expect(ip_address).toBe('203.0.113.2')
  } finally {
    await behind.stop()
  }
})

describe('a session', () => {
  test('ends at once when its owner signs out, and the cookie is worth nothing any more', async () => {
    const human = await signedIn(db, here.url)
    const other = await signIn(here.url, human.person.email)
    const out = await human.send('POST', '/api/auth/sign-out', { headers: { origin: here.url } })
    expect(out).toMatchObject({ status: 200, body: { signed_out: true } })
    expect(out.cookies.get('switchboard.session_token')).toContain('Max-Age=0')
    const refused = await human.send('GET', '/api/v1/me')
    expect(refused).toMatchObject({ status: 401, body: { detail: 'Your session has ended: sign in again' } })
    expect((await me(cookieOf(other))).status).toBe(200)
  })

  test('survives a restart of the web process', async () => {
    const human = await signedIn(db, here.url)
    const later = await serveAt(databaseUrl, PLAIN)
    try {
      expect((await me(human.cookie, later.url)).body.person.id).toBe(human.person.id)
    } finally {
      await later.stop()
    }
  })

  test('ends with its time, with its owner, and never works under another signature', async () => {
    const { cookie } = await signedIn(db, here.url)
    for (const forged of [
      cookie.slice(0, -4),
      cookie.replace(/=./, (first) => (first === '=x' ? '=y' : '=x')),
      `${cookie}x`,
      'switchboard.session_token=',
      'switchboard.session_token=a.b',
      cookie.replaceAll(/%3D$/g, ''),
    ]) {
      expect((await me(forged)).status).toBe(401)
    }
    expect((await me(`theme=dark; ${cookie}; other=1`)).status).toBe(200)
    expect((await me(`switchboard.session_token=planted.${'A'.repeat(43)}%3D; ${cookie}`)).status).toBe(200)
    await sql`UPDATE sessions SET expires_at = now()`
    expect((await me(cookie)).status).toBe(401)
    const deleted = await signedIn(db, here.url)
    await sql`DELETE FROM people WHERE id = ${deleted.person.id}`
    expect((await me(deleted.cookie)).status).toBe(401)
  })

  test('knows of another role from its commit on', async () => {
    const human = await signedIn(db, here.url, 'viewer')
    expect((await human.send('GET', '/api/v1/settings')).status).toBe(403)
    await sql`UPDATE people SET role = 'admin' WHERE id = ${human.person.id}`
    expect((await human.send('GET', '/api/v1/settings')).status).toBe(200)
    await sql`UPDATE people SET role = 'viewer' WHERE id = ${human.person.id}`
    expect((await human.send('GET', '/api/v1/settings')).status).toBe(403)
    expect(await hasAdmin(db)).toBe(false)
  })

  test('is told to its owner without its token', async () => {
    const human = await signedIn(db, here.url, 'operator')
    const told = await human.send('GET', '/api/auth/get-session')
    expect(told).toMatchObject({ status: 200, body: { person: human.person, expires_at: expect.any(String) } })
    expect((await browse(`${here.url}/api/auth/get-session`, 'GET')).body).toEqual({ person: null, expires_at: null })
  })

  test('that has ended is cleared away when somebody signs in', async () => {
    await signedIn(db, here.url)
    await sql`UPDATE sessions SET expires_at = now()`
    await signedIn(db, here.url)
    await expect.poll(async () => (await sql`SELECT 1 FROM sessions WHERE expires_at <= now()`).length).toBe(0)
  })
})

test('over https the cookie is secure and has the name that only a secure one may have', async () => {
  const secure = await serveAt(databaseUrl, { ...PLAIN, publicUrl: 'https://board.example' })
  try {
    const { email } = await somebody(db)
    const answer = await signIn(secure.url, email, PASSWORD, { origin: 'https://board.example' })
    expect([...answer.cookies.keys()]).toEqual(['__Secure-switchboard.session_token'])
    expect(answer.cookies.get('__Secure-switchboard.session_token')).toMatch(/; Secure/i)
    const cookie = cookieOf(answer)
    expect((await me(cookie, secure.url)).status).toBe(200)
    expect((await me(cookie.replace('__Secure-', ''), secure.url)).status).toBe(401)
  } finally {
    await secure.stop()
  }
})

test('nobody signs up, and of what better-auth can do only what people need is there', async () => {
  const json = { name: 'Eve', email: 'eve@example.test', password: PASSWORD, role: 'admin' }
  const headers = { origin: here.url }
  for (const path of ['sign-up/email', 'sign-up', 'sign-up/other']) {
    const answer = await browse(`${here.url}/api/auth/${path}`, 'POST', { json, headers })
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  }
  const human = await signedIn(db, here.url, 'admin')
  const rest = [
    'update-user',
    'change-email',
    'change-password',
    'delete-user',
    'request-password-reset',
    'reset-password',
    'list-sessions',
    'revoke-sessions',
    'sign-in/social',
    'Sign-In/email',
    'ok',
    'error',
    'callback/x',
    'sign-in%2Femail',
  ]
  for (const path of rest) {
    for (const method of ['GET', 'POST']) {
      const answer = await human.send(method, `/api/auth/${path}`, { ...(method === 'POST' ? { json } : {}), headers })
      expect({ path, method, status: answer.status }).toEqual({ path, method, status: 404 })
    }
  }
  expect((await human.send('GET', '/api/auth/sign-in/email')).headers.get('allow')).toBe('POST')
  expect(await sql`SELECT 1 FROM people WHERE email = 'eve@example.test'`).toEqual([])
})
