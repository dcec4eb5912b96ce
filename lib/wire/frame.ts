import { z } from 'zod'
import { STATE_NAMES } from '#lib/model/states'
import { READY_REASONS, type ReadyReason, VERBS } from '#lib/model/transitions'
import { json, name, time } from './scalars'
import { cardSchema } from './todo'

const reasons = [...new Set(Object.values(READY_REASONS))] as [ReadyReason, ...ReadyReason[]]

const clock = z.object({ now: time.describe("The server's clock") })

/** One committed fact about a todo. `from` and `to` are null when its state stayed. */
export const transitionSchema = z.object({
  event_id: z.number(),
  todo: cardSchema
    .nullable()
    .describe('As it was when the log was read, maybe later than the event; null: deleted since'),
  verb: z.enum(VERBS),
  from: z.enum(STATE_NAMES).nullable(),
  to: z.enum(STATE_NAMES).nullable(),
  reason: z.string().nullable(),
  actor: z.string(),
  attempt_seq: z.int().nullable(),
  lease_epoch: z.int().nullable(),
  at: time,
})
export type Transitioned = z.infer<typeof transitionSchema>

/** Of an event what tells how its todo came to be where it is. */
export const causeSchema = transitionSchema
  .pick({ event_id: true, verb: true, reason: true, from: true, to: true })
  .extend({ todo_id: z.string() })
export type Caused = z.infer<typeof causeSchema>

/** A todo that landed in pending, and from when on it may be claimed. */
export const readySchema = z.object({ todo_id: z.string(), queue: name, reason: z.enum(reasons), available_at: time })
export type Ready = z.infer<typeof readySchema>

/** A claimed todo's lease and progress, which change without an event. */
export const leaseSchema = z.object({ todo_id: z.string(), lease_expires_at: time, progress: json.nullable() })
export type Leased = z.infer<typeof leaseSchema>

/** A fact without a todo: a setting that was changed, a bulk run that went on. What and by whom is for admins; others get null. */
export const noteSchema = z.object({
  event_id: z.number(),
  actor: z.string().nullable(),
  data: json.nullable(),
  at: time,
})
export type Noted = z.infer<typeof noteSchema>

/** What the stream's frames hold, by their name (api.md, Stream). */
export const FRAMES = {
  hello: clock,
  transition: transitionSchema,
  ready: readySchema,
  setting: noteSchema,
  bulk: noteSchema,
  lease: leaseSchema,
  resync: z.object({}),
  beat: clock,
} as const satisfies Record<string, z.ZodType>

export type FrameName = keyof typeof FRAMES

/** A frame's data, by its name. */
export type FrameData = { [Name in FrameName]: z.infer<(typeof FRAMES)[Name]> }

/** What the data of a frame can be. */
export const frameDataSchema = z.union([transitionSchema, readySchema, leaseSchema, noteSchema, clock, FRAMES.resync])
