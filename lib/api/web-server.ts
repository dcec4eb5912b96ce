import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { log } from '#lib/ops/log'
import { answerAuth, isAuthPath } from './auth-door'
import { dispatch } from './dispatch'
import type { ApiAnswer, ApiRequest } from './exchange'
import { admit, type Visit } from './gate'
import { isLoopback } from './loopback'
import { apiRequest, send } from './node-request'
import { nowhere } from './nowhere'
import { answerOwnDoor, type Doors, isOwnDoor } from './own-doors'
import type { Pages } from './pages'

const TIMING = {
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  // Longer than what proxies keep a connection for, so that it is never we who close one under a request.
  keepAliveTimeout: 75_000,
}

/** A server that answers; `stop` takes no more calls, lets running ones finish for so long, and then cuts them off. */
export interface WebServer {
  readonly url: string
  stop(graceMs: number): Promise<void>
}

/** What a server serves and where. */
export interface Serving extends Doors {
  host: string
  /** 0 takes any that is free. */
  port: number
  /** Null: there are no pages. */
  pages: Pages | null
}

/** Serves the JSON API, the process's own doors and, past their gate, the pages. Rejects when it cannot listen there. */
export async function serve(serving: Serving): Promise<WebServer> {
  const server = createServer(TIMING, (req, res) => {
    answer(server, serving, req, res).catch((error) => {
      log.error({ err: error }, 'a request failed unexpectedly')
      res.destroy()
    })
  })
  server.on('clientError', refuseUnreadable)
  const { upgrade } = serving.pages ?? {}
  if (upgrade)
    server.on('upgrade', (req, socket, head) => (isLoopback(req) ? upgrade(req, socket, head) : socket.destroy()))
  await listening(server, serving)
  return { url: urlOf(server), stop: (graceMs) => stopped(server, graceMs) }
}

async function answer(server: Server, serving: Serving, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const request = apiRequest(req, res)
  const answered = answerTo(serving, request)
  if (answered) return send(res, await answered, !server.listening)
  const { pages } = serving
  const visit = pages && isTool(pages, request) ? NOBODY : await admit(serving.core, request)
  if ('answer' in visit) return send(res, visit.answer, !server.listening)
  if (!pages) return send(res, nowhere(request), !server.listening)
  if (visit.cookies.length > 0) res.setHeader('set-cookie', visit.cookies)
  await pages.show(req, res, visit.person)
}

const isApi = ({ path }: ApiRequest): boolean => path === '/api/v1' || path.startsWith('/api/v1/')

/** The answer to everything that is no page. */
function answerTo(serving: Serving, request: ApiRequest): ApiAnswer | Promise<ApiAnswer> | null {
  // `*` and absolute targets are for proxies, which we are not; Next would stumble over them.
  if (!request.path.startsWith('/')) return nowhere(request)
  if (isApi(request)) return dispatch(serving.core, request)
  if (isAuthPath(request.path)) return answerAuth(serving.core, request)
  return isOwnDoor(request.path) ? answerOwnDoor(serving, request) : null
}

const NOBODY: Visit = { person: null, cookies: [] }

// Next's own tools, in development, for who sits at this machine.
const isTool = ({ upgrade }: Pages, { path, loopback }: ApiRequest): boolean =>
  upgrade !== undefined && loopback && /^\/_(?:next\/|_nextjs)/.test(path)

function listening(server: Server, { host, port }: Serving): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      server.on('error', (error) => log.error({ err: error }, 'the server failed'))
      resolve()
    })
  })
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

async function stopped(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(timer)
}

// What the parser refuses never becomes a request; it still gets an answer.
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const status = STATUS_OF[error.code ?? ''] ?? 400
  const body = JSON.stringify({
    type: '/docs#invalid_request',
    title: STATUS_CODES[status],
    status,
    code: 'invalid_request',
  })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json',
    'connection: close',
  ]
  socket.end([...head, `content-length: ${body.length}`, '', body].join('\r\n'))
}

const STATUS_OF: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }
