import { describe, expect, test } from 'vitest'
import { ownOrigin } from '#lib/api/origin'
import { readSite } from '#lib/api/site'
import { acceptInvitationSchema } from '#lib/wire/person'
import { database } from '../support/database'
import { browse, PASSWORD, signedIn, signIn, somebody } from '../support/people'
import { refusalOf } from '../support/refusal'
import { PLAIN, serveAt, site } from '../support/site'

const { db, url: databaseUrl } = database()
const here = site(databaseUrl)

type Headers = Record<string, string>

describe('a request that changes something', () => {
  const PUBLIC = 'https://board.example:8443'
  const asked = async (headers: Headers, publicUrl: string | null = null) => {
    const refusal = await refusalOf((async () => ownOrigin({ ...PLAIN, publicUrl }, { headers }))())
    return refusal?.code ?? 'taken'
  }

  const host = '127.0.0.1:4300'
  const CASES: [string, Headers, string | null, 'taken' | 'forbidden'][] = [
    ['of a page of the host asked for', { origin: 'http://127.0.0.1:4300', host }, null, 'taken'],
    [
      'of such a page where a proxy ends TLS',
      { origin: 'https://board.example', host: 'board.example' },
      null,
      'taken',
    ],
    [
      'with the scheme’s own port written out',
      { origin: 'https://board.example', host: 'board.example:443' },
      null,
      'taken',
    ],
    [
      'of a page of the public address, under whatever host',
      { origin: PUBLIC, host: 'board.example' },
      PUBLIC,
      'taken',
    ],
    ['of this machine, though there is a public address', { origin: 'http://127.0.0.1:4300', host }, PUBLIC, 'taken'],
    ['of no browser', { host }, null, 'taken'],
    ['of a browser that says it is one of ours', { host, 'sec-fetch-site': 'same-origin' }, null, 'taken'],
    ['typed by a person', { host, 'sec-fetch-site': 'none' }, null, 'taken'],
    ['of another site', { origin: 'https://evil.example', host }, null, 'forbidden'],
    ['of another port', { origin: 'http://127.0.0.1:4301', host }, null, 'forbidden'],
    ['of a name that begins alike', { origin: 'http://127.0.0.1:4300.evil.example', host }, null, 'forbidden'],
    ['of a page without an origin', { origin: 'null', host }, null, 'forbidden'],
    ['with an empty origin', { origin: '', host }, null, 'forbidden'],
    ['of another site that hides its origin', { host, 'sec-fetch-site': 'cross-site' }, null, 'forbidden'],
    ['of a neighbour that hides its origin', { host, 'sec-fetch-site': 'same-site' }, null, 'forbidden'],
    [
      'of the public name in plain text',
      { origin: 'http://board.example', host: 'board.example' },
      'https://board.example',
      'forbidden',
    ],
    [
      'of the public name on another port',
      { origin: 'https://board.example', host: 'board.example' },
      PUBLIC,
      'forbidden',
    ],
    [
      'of another site that forges what a proxy would say',
      { origin: 'https://evil.example', host, 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
      null,
      'forbidden',
    ],
    ['with a name and password in the origin', { origin: `http://${host}@evil.example`, host }, null, 'forbidden'],
    ['with a path in the origin', { origin: `http://${host}/`, host }, null, 'forbidden'],
    ['of another kind of page', { origin: 'moz-extension://127.0.0.1:4300', host }, null, 'forbidden'],
    ['without a host', { origin: 'http://127.0.0.1:4300' }, null, 'forbidden'],
  ]

  test.each(CASES)('%s', async (_, headers, publicUrl, outcome) => {
    expect(await asked(headers, publicUrl)).toBe(outcome)
  })
})

describe('over HTTP', () => {
  test('another site’s page changes nothing with a person’s cookie, yet reads are answered', async () => {
    const admin = await signedIn(db, here.url, 'admin')
    const put = (headers: Headers) =>
      admin.send('PUT', '/api/v1/settings/max_attempts', { json: { value: '5', version: 0 }, headers })
    const foreign: Headers[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of foreign) {
      expect(await put(headers)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
    expect((await put({ origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' })).status).toBe(403)
    expect((await admin.send('GET', '/api/v1/settings', { headers: { origin: 'https://evil.example' } })).status).toBe(
      200,
    )
    expect((await put({ origin: here.url })).status).toBe(200)
  })

  test('nor does it sign anybody in or out, or use an invitation', async () => {
    const { email } = await somebody(db)
    const headers = { origin: 'https://evil.example' }
    expect((await signIn(here.url, email, PASSWORD, headers)).status).toBe(403)
    const human = await signedIn(db, here.url)
    expect((await human.send('POST', '/api/auth/sign-out', { headers })).status).toBe(403)
    expect((await human.send('GET', '/api/v1/me')).status).toBe(200)
    const json = acceptInvitationSchema.parse({
      token: 'x',
      name: 'Eve',
      email: 'eve@example.test',
      password: PASSWORD,
    })
    const accept = (sent: Headers) => browse(`${here.url}/api/v1/invitations/accept`, 'POST', { json, headers: sent })
    expect((await accept(headers)).status).toBe(403)
    expect((await accept({ origin: here.url })).status).toBe(404)
  })

  test('behind a proxy on another name and port the public address is what counts', async () => {
    const proxied = await serveAt(databaseUrl, { ...PLAIN, publicUrl: 'http://board.example:8080' })
    try {
      const { email } = await somebody(db, 'admin')
      const origin = 'http://board.example:8080'
      const answer = await signIn(proxied.url, email, PASSWORD, { origin })
      expect(answer.status).toBe(200)
      expect((await signIn(proxied.url, email, PASSWORD, { origin: 'http://board.example' })).status).toBe(403)
    } finally {
      await proxied.stop()
    }
  })

  test('a token needs no origin: no browser sends one along by itself', async () => {
    const headers = { authorization: `Bearer sbk_${'a'.repeat(43)}`, origin: 'https://evil.example' }
    expect((await browse(`${here.url}/api/v1/todos`, 'POST', { json: {}, headers })).status).toBe(401)
  })
})

describe('the public address', () => {
  test.each(['https://board.example', 'http://127.0.0.1:8080/', 'HTTPS://Board.Example'])('may be %s', (text) => {
    expect(readSite({ NODE_ENV: 'test', SWITCHBOARD_PUBLIC_URL: text }).publicUrl).toBe(new URL(text).origin)
  })

  test.each([
    'board.example',
    'ftp://board.example',
    'https://board.example/app',
    'https://a:b@board.example',
    'https://board.example/?x',
    'javascript:alert(1)',
  ])('may not be %s', (text) => {
    expect(() => readSite({ NODE_ENV: 'test', SWITCHBOARD_PUBLIC_URL: text })).toThrow('must look like https://')
  })

  test('and the number of proxies is a digit', () => {
    expect(readSite({ NODE_ENV: 'test', SWITCHBOARD_TRUST_PROXY: '' }).proxies).toBe(0)
    expect(readSite({ NODE_ENV: 'test', SWITCHBOARD_TRUST_PROXY: '2' }).proxies).toBe(2)
    for (const text of ['true', '-1', '1.5', '10', 'yes']) {
      expect(() => readSite({ NODE_ENV: 'test', SWITCHBOARD_TRUST_PROXY: text })).toThrow('number of proxies')
    }
  })
})
