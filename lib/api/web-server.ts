import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Refusal } from '#lib/model/errors'
import { log } from '#lib/ops/log'
import { answerAuth, isAuthPath } from './auth-door'
import { dispatch } from './dispatch'
import type { ApiAnswer, ApiRequest } from './exchange'
import { admit, type Visit } from './gate'
import { isLoopback } from './loopback'
import { apiRequest, send } from './node-request'
import { answerOwnDoor, type Doors, isOwnDoor } from './own-doors'
import type { Pages } from './pages'
import { NOWHERE, refused } from './refused'
import { refuseTunnel, refuseUnreadable } from './unreadable'

const OPTIONS = {
  // node:http would refuse a request without one itself, without a word.
  requireHostHeader: false,
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
  const listener = (req: IncomingMessage, res: ServerResponse) => {
    answer(server, serving, req, res).catch((error) => {
      log.error({ err: error }, 'a request failed unexpectedly')
      res.destroy()
    })
  }
  const server = createServer(OPTIONS, listener)
  server.on('clientError', refuseUnreadable)
  server.on('connect', refuseTunnel)
  // An expectation we don't know may be ignored; node:http would refuse it without a word.
  server.on('checkExpectation', listener)
  const { upgrade } = serving.pages ?? {}
  if (upgrade)
    server.on('upgrade', (req, socket, head) => (isLoopback(req) ? upgrade(req, socket, head) : socket.destroy()))
  await listening(server, serving)
  return { url: urlOf(server), stop: (graceMs) => stopped(server, graceMs) }
}

async function answer(server: Server, serving: Serving, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const request = apiRequest(req, res)
  const answered = isHostless(req) ? refused(request, HOSTLESS) : answerTo(serving, request)
  if (answered) return send(res, await answered, !server.listening)
  const { pages } = serving
  const visit = pages && isTool(pages, request) ? NOBODY : await admit(serving.core, request)
  if ('answer' in visit) return send(res, visit.answer, !server.listening)
  if (!pages) return send(res, refused(request, NOWHERE), !server.listening)
  // Next stumbles over a target that is a whole address, as proxies are sent.
  if (!req.url?.startsWith('/')) req.url = request.query ? `${request.path}?${request.query}` : request.path
  if (visit.cookies.length > 0) res.setHeader('set-cookie', visit.cookies)
  await pages.show(req, res, visit.person)
}

const HOSTLESS = new Refusal('invalid_request', { detail: 'The header Host is missing' })

const isHostless = ({ headers, httpVersion }: IncomingMessage): boolean =>
  headers.host === undefined && httpVersion === '1.1'

const isApi = ({ path }: ApiRequest): boolean => path === '/api/v1' || path.startsWith('/api/v1/')

/** The answer to everything that is no page. */
function answerTo(serving: Serving, request: ApiRequest): ApiAnswer | Promise<ApiAnswer> | null {
  // `*` is no place, and Next would stumble over it.
  if (!request.path.startsWith('/')) return refused(request, NOWHERE)
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
