import { z } from 'zod'
import { STATE_NAMES } from '#lib/model/states'
import { DISPOSITIONS, OUTCOMES } from '#lib/model/transitions'
import { interruptSchema } from './interrupt'
import { id, json, name, time } from './scalars'

/** Why a todo or an attempt failed. */
export const errorSchema = z.object({ code: z.string(), message: z.string(), data: json.optional() })

/** How much of a todo's work may be used up before it fails; time counts while claimed, over all attempts. */
export const budgetSchema = z.object({
  max_cost_usd: z.number().min(0).max(1_000_000_000).optional(),
  max_tokens: z.int().min(0).optional(),
  max_seconds: z.int().min(1).max(315_360_000).optional(),
})
export type Budget = z.infer<typeof budgetSchema>

const spent = { cost_usd: z.number(), tokens: z.number() }

/** What a worker says its claim has used. */
export const usageReport = z
  .strictObject({ cost_usd: z.number().min(0).max(1_000_000_000).optional(), tokens: z.int().min(0).optional() })
  .describe('What this claim has used so far, as totals: saying it twice adds nothing')

/** What workers said they used: in the claim under way or last, and in all; seconds are those spent claimed before. */
const usageSchema = z.object({ claim: z.object(spent), total: z.object({ ...spent, seconds: z.number() }) })

/** One piece of work, as its row stands. */
export const todoSchema = z.object({
  id,
  queue: name,
  kind: z.string().nullable(),
  title: z.string(),
  payload: json.nullable(),
  priority: z.int(),
  idempotency_key: z.string().nullable(),
  assignee: z.string().nullable().describe("The assigned endpoint's name"),
  created_by_endpoint_id: z.string().nullable(),
  parent_id: z.string().nullable(),
  depth: z.int(),
  live_children: z.int(),
  state: z.enum(STATE_NAMES),
  owner: z.string().nullable().describe('endpoint/worker that holds the lease'),
  owner_endpoint_id: z.string().nullable(),
  lease_epoch: z.int(),
  lease_seconds: z.int(),
  lease_expires_at: time.nullable(),
  attempts: z.int(),
  failures: z.int(),
  lease_expirations: z.int(),
  wait_expirations: z.int(),
  max_attempts: z.int(),
  available_at: time,
  deadline_at: time.nullable(),
  interrupted_at: time.nullable(),
  open_interrupt_id: z.string().nullable(),
  wait_until: time.nullable(),
  checkpoint: json.nullable(),
  progress: json.nullable(),
  budget: budgetSchema.nullable(),
  usage: usageSchema.nullable(),
  result: json.nullable(),
  error: errorSchema.nullable(),
  version: z.number(),
  created_at: time,
  claimed_at: time.nullable(),
  state_since: time,
  updated_at: time,
  completed_at: time.nullable(),
})
export type Todo = z.infer<typeof todoSchema>

/** A todo in lists and frames: its row without the large columns. */
export const cardSchema = todoSchema.omit({ payload: true, result: true, checkpoint: true })
export type Card = z.infer<typeof cardSchema>

/** One claim, from the claim until it is closed. */
export const attemptSchema = z.object({
  seq: z.int(),
  lease_epoch: z.int(),
  owner: z.string(),
  endpoint_id: z.string(),
  claimed_at: time,
  last_heartbeat_at: time,
  ended_at: time.nullable(),
  outcome: z.enum(OUTCOMES).nullable(),
  disposition: z.enum(DISPOSITIONS).nullable(),
  error: json.nullable(),
})
export type Attempt = z.infer<typeof attemptSchema>

/** A child as whoever holds its parent gets it: how it stands, and what came of it. */
export const childSchema = todoSchema.pick({
  id: true,
  queue: true,
  kind: true,
  title: true,
  idempotency_key: true,
  state: true,
  result: true,
  error: true,
  created_at: true,
  completed_at: true,
})
export type Child = z.infer<typeof childSchema>

/** A page of children, in the order they were made. */
export const childrenSchema = z.object({
  children: z.array(childSchema),
  next_cursor: z.string().nullable().describe('Where the next page begins; null at the end'),
})
export type Children = z.infer<typeof childrenSchema>

/** A todo as its holder gets it: with every question and answer, the last five attempts and its first children, so that nobody starts blind. */
export const claimedTodoSchema = todoSchema.extend({
  interrupts: z.array(interruptSchema),
  prior_attempts: z.array(attemptSchema),
  children: childrenSchema.optional().describe('The first page, of a todo that has any'),
})
export type ClaimedTodo = z.infer<typeof claimedTodoSchema>

/** The columns of a card, in the schema's order. */
export const CARD_COLUMNS = Object.keys(cardSchema.shape) as (keyof Card)[]

/** The columns of a todo, in the schema's order. */
export const TODO_COLUMNS = Object.keys(todoSchema.shape) as (keyof Todo)[]
