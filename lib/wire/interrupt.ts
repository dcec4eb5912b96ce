import { z } from 'zod'
import { INTERRUPT_STATUSES } from '#lib/model/transitions'
import { promptSchema } from './prompt-schema'
import { id, json, time } from './scalars'

/** What a person may be asked for. */
export const interruptKind = z.enum(['input', 'auth', 'approval'])
export type InterruptKind = z.infer<typeof interruptKind>

/** How much hangs on the answer. */
export const risk = z.enum(['low', 'medium', 'high', 'critical'])

/** What a person said to a question. */
export const action = z.enum(['accept', 'decline'])

/** The door an answer came through. */
export type Channel = 'web' | 'http' | 'mcp' | 'a2a'

/** What an approval is asked for, with the hash of its arguments by which an effect is held to them. */
export const proposalSchema = z.object({ action: z.string(), arguments: json, arguments_hash: z.string() })
export type Proposal = z.infer<typeof proposalSchema>

/** Who keeps the todo while a question is open: its worker (hold), or nobody (park). */
export const MODES = ['hold', 'park'] as const

/** One question to a human, with its answer once there is one. */
export const interruptSchema = z.object({
  id,
  todo_id: id,
  attempt_seq: z.int(),
  lease_epoch: z.int(),
  request_id: z.string().nullable(),
  effect_key: z.string().nullable(),
  for: z.string().nullable().describe('Whom the question is addressed to'),
  kind: interruptKind,
  mode: z.enum(MODES),
  status: z.enum(INTERRUPT_STATUSES),
  title: z.string(),
  message: z.string().nullable().describe('Markdown'),
  schema: promptSchema.nullable(),
  ui: json.nullable(),
  url: z.string().nullable(),
  proposal: proposalSchema.nullable(),
  risk,
  requested_by_endpoint_id: z.string(),
  requested_at: time,
  answered_at: time.nullable(),
  answered_by: z.string().nullable(),
  channel: z.string().nullable(),
  action: action.nullable(),
  content: json.nullable(),
  comment: z.string().nullable(),
})
export type Interrupt = z.infer<typeof interruptSchema>
