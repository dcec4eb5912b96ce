import { z } from 'zod'
import type { Operation } from './operation'
import { BULK_OPERATIONS } from './operations-bulk'
import { PEOPLE_OPERATIONS } from './operations-people'
import { QUESTION_OPERATIONS } from './operations-questions'
import { TODO_OPERATIONS } from './operations-todos'
import { WORK_OPERATIONS } from './operations-work'

/** Every operation there is (api.md): dispatch, SDK, OpenAPI, docs and the tests of who may what derive from these rows. */
export const OPERATIONS = {
  ...TODO_OPERATIONS,
  ...WORK_OPERATIONS,
  ...BULK_OPERATIONS,
  ...QUESTION_OPERATIONS,
  ...PEOPLE_OPERATIONS,
  getOpenapi: {
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'This interface as OpenAPI 3.1',
    scopes: 'open',
    answers: { 200: z.looseObject({ openapi: z.string() }) },
    writes: false,
  },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof OPERATIONS
