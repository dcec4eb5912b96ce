import * as answers from './answers'
import { newBulkSchema } from './bulk'
import type { Operation } from './operation'
import * as queries from './queries'

const BULK = '/api/v1/bulk/{id}'

/** One thing done to many todos, by the worker. */
export const BULK_OPERATIONS = {
  orderBulk: {
    method: 'POST',
    path: '/api/v1/todos/bulk',
    summary: 'Cancel, requeue or reject many todos in the background',
    scopes: ['operate'],
    role: 'operator',
    body: newBulkSchema,
    answers: { 202: answers.bulkOrderedAnswer },
    writes: true,
  },
  listBulks: {
    method: 'GET',
    path: '/api/v1/bulk',
    summary: 'Bulk runs, newest first',
    scopes: ['read', 'operate'],
    role: 'viewer',
    query: queries.pageQuery,
    answers: { 200: answers.bulksAnswer },
    writes: false,
  },
  getBulk: {
    method: 'GET',
    path: BULK,
    summary: 'How far a bulk run has come',
    scopes: ['read', 'operate'],
    role: 'viewer',
    params: queries.idParams,
    answers: { 200: answers.bulkAnswer },
    writes: false,
  },
  listBulkResults: {
    method: 'GET',
    path: `${BULK}/results`,
    summary: 'What became of each todo of a bulk run',
    scopes: ['read', 'operate'],
    role: 'viewer',
    params: queries.idParams,
    query: queries.bulkResultsQuery,
    answers: { 200: answers.bulkResultsAnswer },
    writes: false,
  },
  cancelBulk: {
    method: 'POST',
    path: `${BULK}/cancel`,
    summary: 'Stop a bulk run; what it has done stays done',
    scopes: ['operate'],
    role: 'operator',
    params: queries.idParams,
    answers: { 200: answers.bulkAnswer },
    refuses: ['invalid_state'],
    writes: true,
  },
} as const satisfies Record<string, Operation>
