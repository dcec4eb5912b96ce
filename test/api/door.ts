import { afterAll, beforeAll } from 'vitest'
import { type Core, closeCore, openCore } from '#lib/api/core'
import { type Serving, serve, type WebServer } from '#lib/api/web-server'
import { authenticate } from '#lib/auth/authenticate'
import { createEndpoint, type NewEndpoint } from '#lib/auth/endpoints'
import type { EndpointCaller, Scope } from '#lib/wire/caller'
import { database, type TestDatabase } from '../support/database'
import { nextServer } from './next-server'

/** An answer as a client sees it; `body` is parsed when it is JSON. */
export interface Reply {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
}

/** What a test sends besides method and path; `json` is sent as JSON, `body` as it is. */
export interface Sending {
  json?: unknown
  body?: BodyInit
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** An endpoint that calls over HTTP. */
export interface Agent {
  caller: EndpointCaller
  token: string
  send(method: string, path: string, sending?: Sending): Promise<Reply>
  get(path: string): Promise<Reply>
  post(path: string, json?: unknown): Promise<Reply>
}

/** The API over real HTTP, on the test file's own database. */
export interface Door extends TestDatabase {
  /** Where the API answers. */
  readonly url: string
  readonly databaseUrl: string
  /** A new endpoint with these scopes. */
  agent(scopes?: Scope[], more?: Partial<NewEndpoint>): Promise<Agent>
  /** Stops the server before the file's end; nothing is answered afterwards. */
  stop(): Promise<void>
  /** Sends without a token. */
  send(method: string, path: string, sending?: Sending): Promise<Reply>
}

/** For what happens by itself in a moment, on a machine that may be busy. */
export const PATIENT = { timeout: 10_000 }

const ALL: Scope[] = ['enqueue', 'work', 'read', 'answer', 'operate']

/**
 * Call once at the top of a test file. The web process's own server answers; with SWITCHBOARD_TEST_DOOR=next the built app
 * under plain `next start`, which must give the same answers. A test that says how to serve is about our own server alone.
 */
export function door(serving?: Partial<Serving>): Door {
  const own = database()
  let stop = async () => {}
  const stopOnce = () => {
    const stopping = stop()
    stop = async () => {}
    return stopping
  }
  let url = ''
  let agents = 0
  beforeAll(async () => {
    const isNext = !serving && process.env.SWITCHBOARD_TEST_DOOR === 'next'
    const opened = isNext ? await nextServer(own.url) : await ownServer(own.url, serving)
    url = opened.url
    stop = opened.stop
  }, 60_000)
  // Before the database goes, which was asked for first and so is left last.
  afterAll(stopOnce)
  const send = (method: string, path: string, sending: Sending = {}) => request(`${url}${path}`, method, sending)
  return {
    ...own,
    databaseUrl: own.url,
    stop: stopOnce,
    get url() {
      return url
    },
    send,
    agent: async (scopes = ALL, more = {}) => {
      agents += 1
      const { token } = await createEndpoint(own.db, { name: `agent-${agents}`, scopes, ...more })
      const caller = await authenticate(own.db, token)
      return agentOf(caller, token, send)
    },
  }
}

function agentOf(caller: EndpointCaller, token: string, send: Door['send']): Agent {
  const sendAs: Door['send'] = (method, path, sending = {}) =>
    send(method, path, { ...sending, headers: { authorization: `Bearer ${token}`, ...sending.headers } })
  return {
    caller,
    token,
    send: sendAs,
    get: (path) => sendAs('GET', path),
    post: (path, json) => sendAs('POST', path, json === undefined ? {} : { json }),
  }
}

async function request(url: string, method: string, { json, body, headers, signal }: Sending): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: json === undefined ? (body ?? null) : JSON.stringify(json),
    signal: signal ?? null,
  })
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  if (isStream) await response.body?.cancel()
  const text = isStream ? '' : await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

async function ownServer(
  databaseUrl: string,
  serving: Partial<Serving> = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const core: Core = await openCore(databaseUrl)
  const server: WebServer = await serve({
    core,
    host: '127.0.0.1',
    port: 0,
    pages: null,
    metricsToken: null,
    ...serving,
  })
  return {
    url: server.url,
    stop: async () => {
      await core.live.stop()
      await server.stop(1000)
      await closeCore(core)
    },
  }
}
