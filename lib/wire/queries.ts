import { z } from 'zod'
import { INTERRUPT_STATUSES } from '#lib/model/transitions'
import { BULK_OUTCOMES } from './bulk'
import { effectKey } from './effect'
import { interruptKind, risk } from './interrupt'
import { id, name } from './scalars'
import { todoFilterFields } from './todo-filter'

// A query is text: whole numbers are read from digits only, so that "1e3" and " 5 " are refused.
const whole = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum))

const text = z.string().min(1).max(200)
const cursor = z.string().min(1).max(200)
const limit = whole(1, 200).optional()

export const waitQuery = z.strictObject({ wait_seconds: whole(0, 30).optional() })

export const pageQuery = z.strictObject({ limit, cursor: cursor.optional() })

export const todosQuery = pageQuery.extend({
  ...todoFilterFields,
  sort: z
    .enum(['created', 'ended'])
    .optional()
    .describe(
      'Latest first by when they were made (the default), or by when they ended, of states that are over alone',
    ),
})

export const interruptsQuery = pageQuery.extend({
  status: z.enum(INTERRUPT_STATUSES).optional(),
  kind: interruptKind.optional(),
  queue: name.optional(),
  risk: risk.optional(),
  q: text.optional(),
})

export const streamQuery = z.strictObject({
  queue: name.optional().describe('Only what concerns todos of this queue'),
  todo_id: id.optional().describe('Only what concerns this todo'),
  last_event_id: z
    .string()
    .optional()
    .describe('Where to go on, when the header Last-Event-ID cannot be sent; without either: from now on'),
})

export const bulkResultsQuery = pageQuery.extend({
  outcome: z.enum(BULK_OUTCOMES).optional().describe('Only those moved, those not moved, or those still to come'),
})

export const idParams = z.strictObject({ id })

export const effectParams = z.strictObject({ id, key: effectKey })
