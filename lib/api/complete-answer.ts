import { randomUUID } from 'node:crypto'
import type { ApiAnswer, ApiRequest } from './exchange'
import { GONE } from './stream-sink'

const WELL_FORMED = /^[A-Za-z0-9._:-]{1,128}$/

/** A request's id: as its X-Request-Id says, when that is well formed; else a new one. */
export function requestIdOf({ headers }: Pick<ApiRequest, 'headers'>): string {
  const given = headers['x-request-id']
  return given !== undefined && WELL_FORMED.test(given) ? given : randomUUID()
}

/** The answer with the headers that all have; one to HEAD has the length of its body, but no body. */
export function completeAnswer(
  answer: ApiAnswer,
  { method }: Pick<ApiRequest, 'method'>,
  requestId: string,
): ApiAnswer {
  const { status, body, stream, ...rest } = answer
  const headers: Record<string, string> = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...answer.headers,
    'x-request-id': requestId,
  }
  if (stream) return streaming({ ...rest, status, headers, body, stream }, method)
  if (status !== 204) headers['content-length'] = String(Buffer.byteLength(body))
  return { ...rest, status, headers, body: method === 'HEAD' ? '' : body }
}

/** A stream to HEAD ends before it begins. */
function streaming({ stream, ...answer }: ApiAnswer & Required<Pick<ApiAnswer, 'stream'>>, method: string): ApiAnswer {
  if (method !== 'HEAD') return { ...answer, stream }
  stream(GONE)
  return answer
}
