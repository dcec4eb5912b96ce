import { z } from 'zod'
import { STATE_NAMES } from '#lib/model/states'
import { VERBS } from '#lib/model/transitions'
import { json, time } from './scalars'

/** One committed fact of the log. */
export const eventSchema = z.object({
  id: z.number(),
  todo_id: z.string().nullable(),
  queue: z.string().nullable(),
  verb: z.enum([...VERBS, 'setting', 'bulk']),
  from_state: z.enum(STATE_NAMES).nullable(),
  to_state: z.enum(STATE_NAMES).nullable(),
  reason: z.string().nullable(),
  actor: z.string(),
  attempt_seq: z.int().nullable(),
  lease_epoch: z.int().nullable(),
  data: json.nullable(),
  at: time,
})
export type Event = z.infer<typeof eventSchema>

/** The columns of an event, in the schema's order. */
export const EVENT_COLUMNS = Object.keys(eventSchema.shape) as (keyof Event)[]
