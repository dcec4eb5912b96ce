import { z } from 'zod'
import { action, interruptKind, risk } from './interrupt'
import { promptSchema } from './prompt-schema'
import { givenTime, id, json, name } from './scalars'
import { errorSchema } from './todo'

const MOST_BATCHED = 1000

const requestId = z.string().min(1).max(200).describe("The caller's mark of a repeat")
const reason = z.string().max(1000).optional()
const leaseSeconds = z.int().min(1).max(86_400)
const leaseEpoch = z.int().min(0).describe('The epoch that the claim gave')
const waitSeconds = z.int().min(0).max(30)

/** A todo to be made. */
export const newTodoSchema = z
  .strictObject({
    queue: name,
    title: z.string().min(1).max(200),
    kind: z.string().min(1).max(100).optional(),
    payload: json.optional(),
    priority: z.int().min(-32_768).max(32_767).optional().describe('Higher first'),
    idempotency_key: z.string().min(1).max(300).optional(),
    available_at: givenTime.optional(),
    delay_seconds: z.int().min(0).max(315_360_000).optional(),
    max_attempts: z.int().min(1).max(1000).optional(),
    assignee: name.optional().describe('The only endpoint that may claim it, by name'),
  })
  .refine((todo) => todo.available_at === undefined || todo.delay_seconds === undefined, {
    message: 'give available_at or delay_seconds, not both',
    path: ['delay_seconds'],
  })

export const newTodosSchema = z.strictObject({ todos: z.array(newTodoSchema).min(1).max(MOST_BATCHED) })

const claimFields = {
  lease_seconds: leaseSeconds.optional(),
  worker: z
    .string()
    .regex(/^[A-Za-z0-9._:@-]{1,100}$/, 'must be 1 to 100 of letters, digits and ._:@-')
    .optional()
    .describe('What the worker calls itself; `default` unless said'),
  wait_seconds: waitSeconds.optional(),
  request_id: requestId.optional(),
}

export const claimSchema = z.strictObject({
  queues: z.array(name).min(1).max(200).optional(),
  limit: z.int().min(1).max(100).optional(),
  ...claimFields,
})

export const claimOneSchema = z.strictObject(claimFields)

const progressSchema = z.strictObject({
  ratio: z.number().min(0).max(1).optional(),
  message: z.string().max(500).optional(),
})

export const heartbeatSchema = z.strictObject({
  lease_epoch: leaseEpoch,
  lease_seconds: leaseSeconds.optional(),
  progress: progressSchema.optional(),
  checkpoint: json.optional(),
})

export const heartbeatManySchema = z.strictObject({
  items: z.array(heartbeatSchema.extend({ id })).min(1).max(MOST_BATCHED),
})

export const completeSchema = z.strictObject({ lease_epoch: leaseEpoch, result: json.optional() })

export const completeManySchema = z.strictObject({
  items: z.array(completeSchema.extend({ id })).min(1).max(MOST_BATCHED),
})

export const failSchema = z.strictObject({
  lease_epoch: leaseEpoch,
  error: errorSchema.extend({ code: z.string().min(1).max(100), message: z.string().max(10_000) }).strict(),
  retryable: z.boolean().optional(),
  retry_after_seconds: z.int().min(0).max(2_592_000).optional(),
})

export const releaseSchema = z.strictObject({ lease_epoch: leaseEpoch, checkpoint: json.optional(), reason })

/** A question as a worker asks it. */
export const askSchema = z
  .strictObject({
    lease_epoch: leaseEpoch,
    kind: interruptKind.exclude(['approval']).default('input'),
    mode: z.literal('hold').default('hold'),
    title: z.string().min(1).max(200),
    message: z.string().max(100_000).optional().describe('Markdown'),
    schema: promptSchema.optional(),
    ui: json.optional(),
    url: z
      .url({ protocol: /^https$/, error: 'must be an https address' })
      .max(2000)
      .refine((url) => !/^https:\/\/[^/?#]*@/i.test(url), 'must not hold a name or password')
      .optional(),
    risk: risk.default('medium'),
    for: z.string().min(1).max(200).optional(),
    request_id: requestId.optional(),
  })
  .refine((ask) => ask.kind !== 'auth' || ask.url !== undefined, {
    message: 'a sign-in needs the https address to sign in at',
    path: ['url'],
  })
  .refine((ask) => ask.kind === 'auth' || ask.url === undefined, { message: 'only a sign-in has a url', path: ['url'] })
  .refine((ask) => ask.kind === 'input' || ask.schema === undefined, {
    message: 'only an input has a form',
    path: ['schema'],
  })

const replyFields = {
  action: action.default('accept'),
  content: json.optional(),
  comment: z.string().max(10_000).optional(),
}

export const answerSchema = z.strictObject(replyFields)

export const resumeSchema = z.strictObject({ lease_epoch: leaseEpoch, interrupt_id: id, ...replyFields })

export const reasonSchema = z.strictObject({ reason })

export const requeueSchema = z.strictObject({ reason, assignee: name.optional() })
