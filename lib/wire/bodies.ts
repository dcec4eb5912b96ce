import { z } from 'zod'
import { effectKey, hash } from './effect'
import { action } from './interrupt'
import { givenTime, id, json, leaseEpoch, name, requestId } from './scalars'
import { budgetSchema, errorSchema, usageReport } from './todo'

const MOST_BATCHED = 1000

const reason = z.string().max(1000).optional()
const leaseSeconds = z.int().min(1).max(86_400)
const priority = z.int().min(-32_768).max(32_767).describe('Higher first')
const maxAttempts = z.int().min(1).max(1000)
const waitSeconds = z.int().min(0).max(30)

const budget = budgetSchema
  .strict()
  .refine((limits) => Object.values(limits).some((limit) => limit !== undefined), 'must set at least one limit')

const usage = usageReport.optional()

/** A todo to be made. */
export const newTodoSchema = z
  .strictObject({
    queue: name,
    title: z.string().min(1).max(200),
    kind: z.string().min(1).max(100).optional(),
    payload: json.optional(),
    priority: priority.optional(),
    idempotency_key: z.string().min(1).max(300).optional(),
    available_at: givenTime.optional(),
    delay_seconds: z.int().min(0).max(315_360_000).optional(),
    deadline_at: givenTime.optional().describe('After this moment it fails, whatever it is in'),
    max_attempts: maxAttempts.optional(),
    parent_id: id.optional().describe('The todo it is a part of'),
    parent_epoch: leaseEpoch
      .optional()
      .describe('The lease under which its maker holds the parent; an operator needs none'),
    budget: budget.optional(),
    assignee: name.optional().describe('The only endpoint that may claim it, by name'),
  })
  .refine((todo) => todo.available_at === undefined || todo.delay_seconds === undefined, {
    message: 'give available_at or delay_seconds, not both',
    path: ['delay_seconds'],
  })
  .refine((todo) => todo.parent_epoch === undefined || todo.parent_id !== undefined, {
    message: 'is of a parent_id, which is missing',
    path: ['parent_epoch'],
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
  usage,
})

export const heartbeatManySchema = z.strictObject({
  items: z.array(heartbeatSchema.extend({ id })).min(1).max(MOST_BATCHED),
})

export const completeSchema = z.strictObject({ lease_epoch: leaseEpoch, result: json.optional(), usage })

export const completeManySchema = z.strictObject({
  items: z.array(completeSchema.extend({ id })).min(1).max(MOST_BATCHED),
})

export const failSchema = z.strictObject({
  lease_epoch: leaseEpoch,
  error: errorSchema.extend({ code: z.string().min(1).max(100), message: z.string().max(10_000) }).strict(),
  retryable: z.boolean().optional(),
  retry_after_seconds: z.int().min(0).max(2_592_000).optional(),
  usage,
})

export const releaseSchema = z.strictObject({ lease_epoch: leaseEpoch, checkpoint: json.optional(), reason, usage })

export const waitSchema = z.strictObject({ lease_epoch: leaseEpoch, checkpoint: json.optional(), usage })

const replyFields = {
  action: action.default('accept'),
  content: json.optional(),
  comment: z.string().max(10_000).optional(),
}

export const answerSchema = z.strictObject(replyFields)

export const resumeSchema = z.strictObject({ lease_epoch: leaseEpoch, interrupt_id: id, ...replyFields })

/** The holder of a question lets go of it; an operator gives neither. */
export const parkSchema = z
  .strictObject({ lease_epoch: leaseEpoch.optional(), checkpoint: json.optional() })
  .refine(({ lease_epoch, checkpoint }) => lease_epoch !== undefined || checkpoint === undefined, {
    message: 'only the holder, by its lease_epoch, leaves a checkpoint',
    path: ['checkpoint'],
  })

export const beginEffectSchema = z.strictObject({
  lease_epoch: leaseEpoch,
  key: effectKey,
  idempotent: z.boolean().describe('Whether doing it twice does no harm'),
  arguments_hash: hash.optional(),
  interrupt_id: id.optional().describe('The approval it needs, and has'),
  request_id: requestId.optional(),
  description: z.string().max(1000).optional(),
})

/** How an effect ended: its worker knows (confirmed, failed), a person has found out (happened, did_not_happen). */
export const settleEffectSchema = z
  .strictObject({
    status: z.enum(['confirmed', 'failed', 'happened', 'did_not_happen']),
    lease_epoch: leaseEpoch.optional().describe('Its worker: the epoch that began it'),
    result: json.optional().describe('Its worker: what came of it'),
    comment: z.string().min(1).max(10_000).optional().describe('A person: how they know'),
  })
  .superRefine(({ status, lease_epoch, result, comment }, context) => {
    const wants = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
    const isWorkers = status === 'confirmed' || status === 'failed'
    if (isWorkers && lease_epoch === undefined) wants('lease_epoch', 'is required of the worker that began it')
    if (isWorkers && comment !== undefined) wants('comment', 'only a person comments')
    if (!isWorkers && comment === undefined) wants('comment', 'say how you know')
    if (!isWorkers && lease_epoch !== undefined) wants('lease_epoch', 'only a worker has one')
    if (!isWorkers && result !== undefined) wants('result', 'only a worker has one')
  })

export const editSchema = z
  .strictObject({
    version: z.int().min(1).describe('The version this changes'),
    priority: priority.optional(),
    deadline_at: givenTime.nullable().optional(),
    max_attempts: maxAttempts.optional(),
    available_at: givenTime.optional(),
    assignee: name.nullable().optional(),
  })
  .refine(({ version, ...changes }) => Object.values(changes).some((change) => change !== undefined), {
    message: 'must change something',
  })

export const reasonSchema = z.strictObject({ reason })

export const requeueSchema = z.strictObject({
  reason,
  assignee: name.optional(),
  deadline_at: givenTime.optional(),
  budget: budget.optional(),
})
