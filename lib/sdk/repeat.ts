import type { Operation } from '#lib/wire/operation'
import type { OperationName } from '#lib/wire/operations'
import type { Given } from './request'

// The server knows these again by what they are: canceled stays canceled, and an equal answer by the same caller is one.
const KNOWN_AGAIN: readonly OperationName[] = ['cancel', 'answerInterrupt']

/**
 * Whether the server answers a second sending instead of acting twice: reads, what carries a lease's epoch or a
 * `request_id`, todos with an idempotency key, and a few that are so by nature.
 */
export function isRepeatable(name: OperationName, operation: Operation, given: Given): boolean {
  if (!operation.writes || KNOWN_AGAIN.includes(name) || isMarked(given)) return true
  const parts = given.items ?? given.todos
  return Array.isArray(parts) && parts.every(isMarked)
}

const isMarked = (given: Given): boolean =>
  ['lease_epoch', 'request_id', 'idempotency_key'].some((mark) => given[mark] !== undefined)

/** Adds a `request_id` where the operation takes one and the caller gave none, so that the call may be repeated. */
export function marked(operation: Operation, given: Given): Given {
  const shape = (operation.body as { shape?: object } | undefined)?.shape ?? {}
  return 'request_id' in shape ? { ...given, request_id: given.request_id ?? crypto.randomUUID() } : given
}
