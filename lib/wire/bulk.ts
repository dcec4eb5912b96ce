import { z } from 'zod'
import { id, time } from './scalars'
import { todoFilterFields } from './todo-filter'

/** What can be done to many todos at once. */
export const BULK_ACTIONS = ['cancel', 'requeue', 'reject'] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

/** What became of a todo of a run: it could not be moved, it was, or its turn is still to come. */
export const BULK_OUTCOMES = ['failed', 'done', 'left'] as const
export type BulkOutcome = (typeof BULK_OUTCOMES)[number]

/** A bulk run: what was ordered, and how far it has come. */
export const bulkSchema = z.object({
  id,
  action: z.enum(BULK_ACTIONS),
  status: z.enum(['running', 'completed', 'canceled']),
  reason: z.string().nullable(),
  matched: z.int().describe('How many todos it is about: those there were when it was ordered'),
  done: z.int(),
  failed: z.int().describe('How many could not be moved; its results say why'),
  ordered_by: z.string().describe('As the actor of its events'),
  created_at: time,
  updated_at: time,
  ended_at: time.nullable(),
})
export type BulkRun = z.infer<typeof bulkSchema>

/** What became of one todo of a bulk run. */
export const bulkResultSchema = z.object({
  todo_id: z.string(),
  title: z.string().nullable().describe('Null where there is no such todo'),
  ok: z.boolean().nullable().describe('Null while it was not its turn'),
  code: z.string().nullable(),
  detail: z.string().nullable(),
  at: time.nullable(),
})
export type BulkResult = z.infer<typeof bulkResultSchema>

const filter = z
  .strictObject(todoFilterFields)
  .refine((given) => Object.values(given).some((field) => field !== undefined), 'must narrow the todos by something')
  .describe('As for listing todos; without `state` those in a state that the action can move')

const MOST_IDS = 10_000

/** An order to do one thing to many todos. */
export const newBulkSchema = z
  .strictObject({
    action: z.enum(BULK_ACTIONS),
    filter: filter.optional(),
    ids: z.array(id).min(1).max(MOST_IDS).optional(),
    reason: z.string().max(1000).optional(),
  })
  .refine(({ filter: given, ids }) => (given === undefined) !== (ids === undefined), {
    message: 'give filter or ids, one of them',
    path: ['filter'],
  })
export type NewBulk = z.output<typeof newBulkSchema>
