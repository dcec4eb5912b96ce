import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { door } from './door'

const api = door({})

const HOST = 'Host: x\r\nConnection: close'

/** What the server answers to these very bytes, until it ends the connection. */
const raw = (bytes: string) =>
  new Promise<string>((resolve, reject) => {
    const { hostname, port } = new URL(api.url)
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let said = ''
    socket.setEncoding('utf8').on('data', (part) => {
      said += part
    })
    socket.once('end', () => resolve(said))
    socket.once('error', reject)
  })

/** The one answer in there: headers by lower-case name, and the problem. */
function read(said: string) {
  const [head = '', ...body] = said.split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((one) => one.split(': ')).map(([name = '', value]) => [name.toLowerCase(), value]),
  )
  return { status: Number(line.split(' ')[1]), headers, problem: JSON.parse(body.join('\r\n\r\n')) }
}

const LONG = 'x'.repeat(20_000)

const REFUSED: [string, string, number, RegExp][] = [
  ['no HTTP at all', 'NONSENSE\r\n\r\n', 400, /no such method/],
  ['a handshake of TLS', '\x16\x03\x01\x02\x00\x01', 400, /./],
  ['a method that is none', `FOO /healthz HTTP/1.1\r\n${HOST}\r\n\r\n`, 400, /no such method/],
  ['a target without a slash', `GET healthz HTTP/1.1\r\n${HOST}\r\n\r\n`, 400, /address/],
  ['a target with a control character', `GET /\x01 HTTP/1.1\r\n${HOST}\r\n\r\n`, 400, /address/],
  ['a version that is none', `GET / HTTP/3.0\r\n${HOST}\r\n\r\n`, 400, /version/],
  ['a header that is none', `GET / HTTP/1.1\r\n${HOST}\r\nBad Header: y\r\n\r\n`, 400, /header/],
  ['headers that are too long', `GET / HTTP/1.1\r\n${HOST}\r\nX-Long: ${LONG}\r\n\r\n`, 431, /16 KiB/],
  ['an address that is too long', `GET /${LONG} HTTP/1.1\r\n${HOST}\r\n\r\n`, 431, /16 KiB/],
  ['a length that is none', `POST / HTTP/1.1\r\n${HOST}\r\nContent-Length: x\r\n\r\n`, 400, /Content-Length/],
  [
    'two lengths of one body',
    `POST / HTTP/1.1\r\n${HOST}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
    400,
    /Transfer-Encoding/,
  ],
  ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400, /Host is missing/],
  ['a tunnel', `CONNECT elsewhere:443 HTTP/1.1\r\n${HOST}\r\n\r\n`, 400, /no proxy/],
]

describe('what never becomes a call still gets a problem', () => {
  test.each(REFUSED)('%s', async (_, bytes, status, detail) => {
    const { headers, problem, ...answer } = read(await raw(bytes))
    expect(answer.status).toBe(status)
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      connection: 'close',
      'cache-control': 'no-store',
      'x-request-id': problem.request_id,
    })
    expect(problem).toEqual({
      type: '/docs#invalid_request',
      title: 'The request could not be read',
      status,
      code: 'invalid_request',
      detail: expect.stringMatching(detail),
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  test('a body that breaks off in its chunks is refused once, and the server goes on', async () => {
    const { token } = await api.agent()
    const head = `POST /api/v1/todos HTTP/1.1\r\n${HOST}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json`
    const said = await raw(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"que\r\nzz\r\n`)
    expect(said.match(/HTTP\/1\.1 /g)).toHaveLength(1)
    expect(read(said)).toMatchObject({ status: 400, problem: { code: 'invalid_request' } })
    expect((await api.send('GET', '/healthz')).status).toBe(200)
  })
})

describe('a target that is no path', () => {
  test.each(['OPTIONS', 'GET'])('%s * is nowhere', async (method) => {
    const { status, problem, headers } = read(await raw(`${method} * HTTP/1.1\r\n${HOST}\r\n\r\n`))
    expect(status).toBe(404)
    expect(problem).toMatchObject({
      code: 'not_found',
      detail: expect.any(String),
      request_id: headers['x-request-id'],
    })
  })

  test('but the whole address is taken for its path, whichever host it names', async () => {
    const at = (target: string) => raw(`GET ${target} HTTP/1.1\r\n${HOST}\r\n\r\n`)
    expect(await at('http://elsewhere/healthz')).toContain('{"status":"ok"}')
    expect(read(await at('HTTP://elsewhere/api/v1/nothing'))).toMatchObject({
      status: 404,
      problem: { code: 'not_found' },
    })
    expect(read(await at('http://elsewhere/board'))).toMatchObject({
      status: 401,
      problem: { code: 'unauthenticated' },
    })
    expect(read(await at('http://elsewhere'))).toMatchObject({ status: 401, problem: { code: 'unauthenticated' } })
  })
})

describe('what is merely odd is an ordinary request', () => {
  test('an upgrade that nobody offers', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': '' }
      request(`${api.url}/healthz`, { headers }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end()
    })
    expect(status).toBe(200)
  })

  test('an expectation that is not known, and no Host in HTTP/1.0', async () => {
    expect(await raw(`GET /healthz HTTP/1.1\r\n${HOST}\r\nExpect: wonders\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await raw('GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
  })
})
