import { Refusal } from '#lib/model/errors'
import { isPassing, persist } from './persist'
import { refusalOf, unreachable } from './problem'
import type { ApiRequest } from './request'

/** Where a client sends to, as whom, and how patiently. */
export interface Transport {
  url: string
  token: string | undefined
  fetch: typeof fetch
  timeoutSeconds: number
  retrySeconds: number
}

/** What may be said for one call. */
export interface CallOptions {
  /** Breaks the call off; it may have happened all the same. */
  signal?: AbortSignal
  /** How long one sending may take beyond what it asks the server to wait; 30 unless said here or to `connect`. */
  timeoutSeconds?: number
  /** How long a call that may be repeated is repeated while the server is away; 30 unless said here or to `connect`. */
  retrySeconds?: number
}

/** One call: its request, what it asks the server to wait, and whether it may be sent again. */
export interface Sending {
  request: ApiRequest
  waitSeconds: number
  isRepeatable: boolean
}

/** Sends a request and reads its answer; throws a Refusal, or the signal's reason. */
export function send(transport: Transport, sending: Sending, options: CallOptions): Promise<unknown> {
  const { signal, retrySeconds = transport.retrySeconds, timeoutSeconds = transport.timeoutSeconds } = options
  const timeoutMs = (timeoutSeconds + sending.waitSeconds) * 1000
  return persist(() => sendOnce(transport, sending.request, { signal, timeoutMs }), {
    isWorthIt: (error) => isPassing(error) && mayRepeat(error as Refusal, sending),
    forMs: retrySeconds * 1000,
    signal,
  })
}

// Refused for its rate, nothing was done; away, everything may have been. An internal error would only come again.
const mayRepeat = ({ code }: Refusal, { isRepeatable }: Sending): boolean =>
  code === 'rate_limited' || (code === 'unavailable' && isRepeatable)

interface Limits {
  signal: AbortSignal | undefined
  timeoutMs: number
}

// No AbortSignal.any: in Node 20 it keeps every signal it made for as long as a long-lived source lives.
async function sendOnce(transport: Transport, request: ApiRequest, { signal, timeoutMs }: Limits): Promise<unknown> {
  signal?.throwIfAborted()
  const tooLong = new AbortController()
  const timer = setTimeout(() => tooLong.abort(new Error(`no answer in ${timeoutMs / 1000} s`)), timeoutMs)
  const stop = () => tooLong.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await exchange(transport, request, tooLong.signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw error instanceof Refusal ? error : unreachable(transport.url, error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

async function exchange(transport: Transport, request: ApiRequest, signal: AbortSignal): Promise<unknown> {
  const response = await transport.fetch(`${transport.url}${request.path}`, {
    method: request.method,
    headers: {
      accept: 'application/json',
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(transport.token === undefined ? {} : { authorization: `Bearer ${transport.token}` }),
    },
    body: request.body ?? null,
    // A redirected POST would arrive as a GET.
    redirect: 'manual',
    cache: 'no-store',
    signal,
  })
  if (!response.ok) throw await refusalOf(response)
  if (!response.headers.get('content-type')?.includes('json')) {
    throw new Refusal('invalid_request', { detail: `${transport.url} answered without JSON; is it a Switchboard?` })
  }
  return response.json()
}
