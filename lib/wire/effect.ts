import { z } from 'zod'
import { id, json, time } from './scalars'

/** How an outside effect stands: begun means that nobody has said yet whether it happened. */
const EFFECT_STATUSES = ['begun', 'confirmed', 'failed'] as const

/** What a worker calls an effect: the same effect of a todo has the same key in every attempt. */
export const effectKey = z
  .string()
  .min(1)
  .max(200)
  // Its address would be another: these two segments vanish from a URL, however they are encoded.
  .refine((key) => key !== '.' && key !== '..', 'must not be . or ..')

/** The hash of an effect's arguments, as `argumentsHash` makes it. */
export const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex')

/** An outside effect a worker declared before it performed it. */
export const effectSchema = z.object({
  id,
  todo_id: id,
  key: z.string(),
  idempotent: z.boolean(),
  status: z.enum(EFFECT_STATUSES).describe('begun: perhaps done; confirmed: done; failed: certainly not done'),
  lease_epoch: z.int(),
  request_id: z.string().nullable(),
  arguments_hash: z.string().nullable(),
  interrupt_id: z.string().nullable().describe('The approval it was begun under'),
  description: z.string().nullable(),
  result: json.nullable(),
  begun_at: time,
  ended_at: time.nullable(),
  settled_by: z.string().nullable().describe('Who said whether it happened, where its own worker did not'),
  comment: z.string().nullable(),
})
export type Effect = z.infer<typeof effectSchema>

/** The columns of an effect, in the schema's order. */
export const EFFECT_COLUMNS = Object.keys(effectSchema.shape) as (keyof Effect)[]
