import { Refusal } from '#lib/model/errors'
import type { Operation } from '#lib/wire/operation'
import { type ApiRequest, MOST_BODY_BYTES } from './exchange'
import { readJson } from './read-json'

const MOST_FIELD_BYTES = 1024 * 1024

// What callers may fill as they like; each alone may be a megabyte, in one todo or in each of a batch.
const FREE_FIELDS = ['payload', 'result', 'checkpoint', 'content', 'ui', 'error']
const BATCHES = ['todos', 'items']

/**
 * The body of a request as JSON, or undefined without one. Refuses with unsupported_media_type what is not JSON by its
 * headers, with payload_too_large more than 8 MiB or a free field over 1 MiB, with invalid_request what cannot be read.
 */
export async function readBody(request: ApiRequest, operation: Operation): Promise<unknown> {
  if (!operation.body) return undefined
  if (hasBody(request)) refuseOtherTypes(request)
  const bytes = typeof request.body === 'function' ? await request.body() : request.body
  if (bytes === undefined || bytes.length === 0) return undefined
  refuseOtherTypes(request)
  const size = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.byteLength
  if (size > MOST_BODY_BYTES) throw tooLarge()
  const value = readJson(bytes)
  if (size > MOST_FIELD_BYTES) refuseLargeFields(value)
  return value
}

/** The refusal of a body over 8 MiB. */
export const tooLarge = () => new Refusal('payload_too_large', { detail: 'A body may have 8 MiB at most' })

/** Whether the request says that a body follows. */
const hasBody = ({ headers }: ApiRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function refuseOtherTypes({ headers }: ApiRequest): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  if (type.trim() !== 'application/json') throw new Refusal('unsupported_media_type')
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='))
  if (charset && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new Refusal('unsupported_media_type', { detail: 'Send application/json in UTF-8' })
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new Refusal('unsupported_media_type', { detail: 'Send the body without a content encoding' })
  }
}

function refuseLargeFields(body: unknown): void {
  const errors = [...freeFields(body, '')]
    .filter(({ value }) => Buffer.byteLength(JSON.stringify(value)) > MOST_FIELD_BYTES)
    .map(({ pointer }) => ({ pointer, message: 'may have 1 MiB at most, as UTF-8 JSON' }))
  if (errors.length > 0)
    throw new Refusal('payload_too_large', { detail: `${errors[0]?.pointer} may have 1 MiB at most`, errors })
}

function* freeFields(body: unknown, prefix: string): Generator<{ pointer: string; value: unknown }> {
  if (typeof body !== 'object' || body === null) return
  const fields = body as Record<string, unknown>
  for (const name of FREE_FIELDS) {
    if (Object.hasOwn(fields, name)) yield { pointer: `${prefix}/${name}`, value: fields[name] }
  }
  for (const batch of BATCHES.filter((name) => Array.isArray(fields[name]))) {
    for (const [at, one] of (fields[batch] as unknown[]).entries()) yield* freeFields(one, `${prefix}/${batch}/${at}`)
  }
}
