import { randomUUID } from 'node:crypto'
import type { ApiAnswer, ApiRequest } from './exchange'

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
  const { status, body } = answer
  const headers: Record<string, string> = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...answer.headers,
    'x-request-id': requestId,
  }
  if (status !== 204) headers['content-length'] = String(Buffer.byteLength(body))
  return { status, headers, body: method === 'HEAD' ? '' : body }
}
