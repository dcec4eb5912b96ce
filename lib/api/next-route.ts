import { BadEnvironment } from '#lib/model/environment'
import { Refusal } from '#lib/model/errors'
import { log } from '#lib/ops/log'
import { answerAuth, isAuthPath } from './auth-door'
import { completeAnswer, requestIdOf } from './complete-answer'
import { type Core, processCore } from './core'
import { dispatch } from './dispatch'
import { type ApiAnswer, type ApiRequest, MOST_BODY_BYTES, MOST_DROPPED_BYTES } from './exchange'
import { problem, refusalOf } from './problem'
import { tooLarge } from './read-body'
import { webStream } from './stream-sink'

const STOPPING = Symbol.for('switchboard.stopping')

/** Answers a request that came through Next's own server, as the web process's own would. */
async function answer(request: Request): Promise<Response> {
  const asked = apiRequest(request)
  const { status, headers, cookies = [], body, stream } = await answered(asked)
  const all = new Headers(headers)
  for (const cookie of cookies) all.append('set-cookie', cookie)
  if (stream) return new Response(webStream(stream, request.signal), { status, headers: all })
  return new Response(body === '' ? null : body, { status, headers: all })
}

/** What Next calls for each method: all the same, so that what a path doesn't take is refused in our own words. */
export const handlers = {
  DELETE: answer,
  GET: answer,
  HEAD: answer,
  OPTIONS: answer,
  PATCH: answer,
  POST: answer,
  PUT: answer,
}

async function answered(request: ApiRequest): Promise<ApiAnswer> {
  try {
    const core = await sharedCore()
    return isAuthPath(request.path) ? await answerAuth(core, request) : await dispatch(core, request)
  } catch (error) {
    const requestId = requestIdOf(request)
    return completeAnswer(problem(refusalOf(error, requestId), requestId), request, requestId)
  }
}

async function sharedCore(): Promise<Core> {
  const { DATABASE_URL } = process.env
  if (!DATABASE_URL) throw new Refusal('unavailable', { detail: 'DATABASE_URL is not set' })
  const core = await processCore(DATABASE_URL).catch(refuseBadEnvironment)
  endWaitsOnStop(core)
  return core
}

// Nothing of ours runs before the first request comes, so that is where a mistyped variable is found.
function refuseBadEnvironment(error: unknown): never {
  if (!(error instanceof BadEnvironment)) throw error
  log.error(error.message)
  throw new Refusal('unavailable', { detail: 'A variable of this process is wrong; its log says which' })
}

// Next waits for open calls before it ends, and a claimer may wait half a minute.
function endWaitsOnStop(core: Core): void {
  const shared = globalThis as unknown as Record<symbol, true | undefined>
  if (shared[STOPPING]) return
  shared[STOPPING] = true
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void core.live.stop())
}

function apiRequest(request: Request): ApiRequest {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    headers: Object.fromEntries(request.headers),
    body: () => collect(request),
    signal: request.signal,
    // Whoever is at the other end, Next's own server stands between.
    loopback: false,
    // Next tells of no socket, and what it writes into X-Forwarded-For a client can have written before.
    peer: null,
  }
}

async function collect(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Node's streams can be iterated; the browser's types don't say so.
  const stream = (request.body ?? []) as unknown as AsyncIterable<Uint8Array>
  for await (const chunk of stream) {
    size += chunk.length
    if (size <= MOST_BODY_BYTES) chunks.push(chunk)
    else if (size > MOST_DROPPED_BYTES) break
  }
  if (size > MOST_BODY_BYTES) throw tooLarge()
  return Buffer.concat(chunks)
}
