import { type ErrorCode, Refusal, type RefusalFacts } from '#lib/model/errors'
import { log } from '#lib/ops/log'
import type { ApiAnswer } from './exchange'
import { isLostDatabase, isSetBack } from './lost-database'

const RETRY_SECONDS = 1

/** The refusal behind whatever was thrown: itself, unavailable for a database that is away, else internal, which is logged. */
export function refusalOf(error: unknown, requestId: string): Refusal {
  if (error instanceof Refusal) return error
  // Inside Next the route's modules are a graph of their own, with a class Refusal of its own.
  if (isRefusal(error)) return new Refusal(error.code, error.facts)
  if (isLostDatabase(error)) {
    warn(error, requestId)
    return new Refusal('unavailable', { detail: 'The database cannot be reached', retry_after_seconds: RETRY_SECONDS })
  }
  log.error({ err: error, request_id: requestId }, 'a request failed unexpectedly')
  if (!isSetBack(error)) return new Refusal('internal')
  return new Refusal('unavailable', {
    detail: 'Too much at once: nothing was changed',
    retry_after_seconds: RETRY_SECONDS,
  })
}

const QUIET_MS = 1000
let warnedAt = Number.NEGATIVE_INFINITY

// While the database is away every call meets it; one line a second tells as much.
function warn(error: unknown, requestId: string): void {
  if (performance.now() - warnedAt < QUIET_MS) return
  warnedAt = performance.now()
  log.warn({ err: error, request_id: requestId }, 'the database cannot be reached')
}

const isRefusal = (error: unknown): error is { code: ErrorCode; facts: RefusalFacts } =>
  error instanceof Error && error.name === 'Refusal' && 'code' in error && 'facts' in error

/** A refusal as application/problem+json (RFC 9457), with the headers that belong to its code. */
export function problem(refusal: Refusal, requestId: string): ApiAnswer {
  const { code, status, title, facts } = refusal
  const { detail = title, retry_after_seconds, allow, ...rest } = facts
  const body = JSON.stringify({ ...rest, type: `/docs#${code}`, title, status, code, detail, request_id: requestId })
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' }
  if (retry_after_seconds !== undefined) headers['retry-after'] = String(Math.ceil(retry_after_seconds))
  if (code === 'method_not_allowed') headers.allow = String(allow)
  if (code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="switchboard"'
  return { status, headers, body }
}
