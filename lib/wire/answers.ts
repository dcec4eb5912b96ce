import { z } from 'zod'
import { ERRORS, type ErrorCode } from '#lib/model/errors'
import { STATE_NAMES } from '#lib/model/states'
import { bulkResultSchema, bulkSchema } from './bulk'
import { effectSchema } from './effect'
import { eventSchema } from './event'
import { causeSchema } from './frame'
import { interruptSchema } from './interrupt'
import { id, name, time } from './scalars'
import { attemptSchema, cardSchema, childrenSchema, claimedTodoSchema, todoSchema } from './todo'

const nextCursor = z.string().nullable().describe('Where the next page begins; null at the end')

export const todoAnswer = z.object({ todo: todoSchema })

export const enqueuedAnswer = z.object({ todo: todoSchema, created: z.boolean() })

export const enqueuedManyAnswer = z.object({ results: z.array(z.object({ id, created: z.boolean() })) })

export const claimedAnswer = z.object({ todos: z.array(claimedTodoSchema) })

export const claimedOneAnswer = z.object({ todo: claimedTodoSchema })

export const beatenAnswer = z.object({
  lease_expires_at: time.nullable(),
  state: z.enum(STATE_NAMES).describe('`failed` tells the worker to stop: it is over its budget'),
})

const errorCode = z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])

export const batchAnswer = z.object({
  results: z.array(z.object({ id, ok: z.boolean(), code: errorCode.optional() })),
})

export const interruptAnswer = z.object({ todo: todoSchema, interrupt: interruptSchema })

const counted = z.object({ count: z.int(), capped: z.boolean() })

export const todosAnswer = z.object({
  todos: z.array(cardSchema),
  next_cursor: nextCursor,
  counts: z.record(z.enum(STATE_NAMES), counted).describe('Exact to 10 000, then capped'),
  oldest: z
    .partialRecord(z.enum(STATE_NAMES), time)
    .describe('Since when the oldest in each live state has been there; of a capped count the oldest of those counted'),
  causes: z.array(causeSchema).describe('Why those on this page are back that are pending again'),
})

export const askedAnswer = z.object({
  todo: todoSchema,
  interrupt: interruptSchema.nullable().describe('Null when the usage reported with it put the todo over its budget'),
})

export const effectAnswer = z.object({ effect: effectSchema })

export const todoDetailAnswer = z.object({
  todo: todoSchema.extend(
    claimedTodoSchema.pick({ interrupts: true, prior_attempts: true, children: true }).partial().shape,
  ),
  attempts: z.array(attemptSchema),
  interrupts: z.array(interruptSchema),
  effects: z.array(effectSchema),
  children: z.object({ todos: z.array(cardSchema), total: z.int() }),
  parent: cardSchema.nullable().describe('The todo it is a part of, where the caller may see that'),
})

export const childrenAnswer = childrenSchema

export const eventsAnswer = z.object({ events: z.array(eventSchema), next_cursor: nextCursor })

/** A question in the inbox: with its deadline and its todo's card. */
export const promptCardSchema = interruptSchema.extend({
  expires_at: time.nullable().describe('When the next sweep may take it back; null when it waits without bound'),
  asked_by: z
    .string()
    .nullable()
    .describe('The worker that asked, as endpoint/worker; null when its attempt was pruned'),
  valid_seconds: z.int().nullable().describe('An approval: how long after it is given its effect may begin'),
  todo: cardSchema,
})

export const interruptsAnswer = z.object({ interrupts: z.array(promptCardSchema), next_cursor: nextCursor })

export const interruptDetailAnswer = z.object({ interrupt: promptCardSchema })

export const queuesAnswer = z.object({
  queues: z.array(
    z.object({
      name,
      paused: z.boolean(),
      max_claimed: z.int().nullable(),
      default_lease_seconds: z.int().nullable(),
      max_attempts: z.int().nullable(),
      description: z.string().nullable(),
    }),
  ),
})

export const bulkOrderedAnswer = z.object({ bulk_id: id, matched: z.int() })

export const bulkAnswer = z.object({ bulk: bulkSchema })

export const bulksAnswer = z.object({ bulks: z.array(bulkSchema), next_cursor: nextCursor })

export const bulkResultsAnswer = z.object({ results: z.array(bulkResultSchema), next_cursor: nextCursor })

/** A refusal on the wire (RFC 9457). */
export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: errorCode,
    detail: z.string().optional(),
    request_id: z.string(),
    errors: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
    state: z.enum(STATE_NAMES).optional(),
  })
  .describe('application/problem+json')
