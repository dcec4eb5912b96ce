import type { Client } from '#lib/sdk/client'
import { isRepeatable } from '#lib/sdk/repeat'
import { type Given, requestFor } from '#lib/sdk/request'
import { type CallOptions, send, type Transport } from '#lib/sdk/send'
import type { Operation } from '#lib/wire/operation'
import type { OPERATIONS, OperationName } from '#lib/wire/operations'
import { setServerDate } from './clock'

type Operations = typeof OPERATIONS

// Checked against OPERATIONS by the compiler, so that a page does without the schemas behind it: 36 kB of script.
type Row<Name extends OperationName> = Pick<Operations[Name], 'method' | 'path' | 'writes'> &
  (Operations[Name] extends { body: unknown } ? { body: true } : unknown) &
  (Operations[Name] extends { role: infer Role } ? { role: Role } : unknown)

const rows = <Names extends OperationName>(table: { [Name in Names]: Row<Name> }) => table

/** The operations that pages call, and who may. */
export const CALLS = rows({
  listTodos: { method: 'GET', path: '/api/v1/todos', writes: false, role: 'viewer' },
  getTodo: { method: 'GET', path: '/api/v1/todos/{id}', writes: false, role: 'viewer' },
  listEvents: { method: 'GET', path: '/api/v1/todos/{id}/events', writes: false, role: 'viewer' },
  cancel: { method: 'POST', path: '/api/v1/todos/{id}/cancel', writes: true, role: 'operator', body: true },
  reject: { method: 'POST', path: '/api/v1/todos/{id}/reject', writes: true, role: 'operator', body: true },
  requeue: { method: 'POST', path: '/api/v1/todos/{id}/requeue', writes: true, role: 'operator', body: true },
  park: { method: 'POST', path: '/api/v1/todos/{id}/park', writes: true, role: 'operator', body: true },
  settleEffect: {
    method: 'POST',
    path: '/api/v1/todos/{id}/effects/{key}',
    writes: true,
    role: 'operator',
    body: true,
  },
  orderBulk: { method: 'POST', path: '/api/v1/todos/bulk', writes: true, role: 'operator', body: true },
  listBulks: { method: 'GET', path: '/api/v1/bulk', writes: false, role: 'viewer' },
  getBulk: { method: 'GET', path: '/api/v1/bulk/{id}', writes: false, role: 'viewer' },
  listBulkResults: { method: 'GET', path: '/api/v1/bulk/{id}/results', writes: false, role: 'viewer' },
  cancelBulk: { method: 'POST', path: '/api/v1/bulk/{id}/cancel', writes: true, role: 'operator' },
  listInterrupts: { method: 'GET', path: '/api/v1/interrupts', writes: false, role: 'viewer' },
  getInterrupt: { method: 'GET', path: '/api/v1/interrupts/{id}', writes: false, role: 'viewer' },
  answerInterrupt: {
    method: 'POST',
    path: '/api/v1/interrupts/{id}/answer',
    writes: true,
    role: 'responder',
    body: true,
  },
  listQueues: { method: 'GET', path: '/api/v1/queues', writes: false, role: 'viewer' },
  getMe: { method: 'GET', path: '/api/v1/me', writes: false, role: 'viewer' },
  listNames: { method: 'GET', path: '/api/v1/people/names', writes: false, role: 'viewer' },
  getSettings: { method: 'GET', path: '/api/v1/settings', writes: false, role: 'admin' },
  putSetting: { method: 'PUT', path: '/api/v1/settings/{key}', writes: true, role: 'admin', body: true },
  previewSetting: { method: 'GET', path: '/api/v1/settings/{key}/preview', writes: false, role: 'admin' },
})

const TRANSPORT: Transport = {
  url: '',
  token: undefined,
  fetch: async (...args) => {
    const response = await fetch(...args)
    setServerDate(response.headers.get('date'))
    return response
  },
  timeoutSeconds: 30,
  retrySeconds: 10,
}

const callOf =
  (name: OperationName, operation: Operation) =>
  (given: Given = {}, options: CallOptions = {}) => {
    const isSafeToRepeat = isRepeatable(name, operation, given)
    return send(
      TRANSPORT,
      { request: requestFor(operation, given), waitSeconds: 0, isRepeatable: isSafeToRepeat },
      options,
    )
  }

/** The API as a page calls it: on its own server, as the person signed in. Methods and refusals are the SDK's. */
export const api = Object.fromEntries(
  Object.entries(CALLS).map(([name, row]) => [name, callOf(name as OperationName, row as unknown as Operation)]),
) as unknown as Pick<Client, keyof typeof CALLS>
