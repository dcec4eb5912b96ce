import { z } from 'zod'
import { effectKey } from './effect'
import { interruptKind, MODES, risk } from './interrupt'
import { type PromptSchema, promptSchema } from './prompt-schema'
import { json, leaseEpoch, requestId } from './scalars'
import { usageReport } from './todo'

/** What a person is asked to approve. */
const proposedSchema = z.strictObject({ action: z.string().min(1).max(200), arguments: json.optional() })

const fields = z.strictObject({
  lease_epoch: leaseEpoch,
  kind: interruptKind.default('input'),
  mode: z
    .enum(MODES)
    .default('hold')
    .describe('hold keeps the lease; park lets it go, and whoever claims it next goes on'),
  title: z.string().min(1).max(200),
  message: z.string().max(100_000).optional().describe('Markdown'),
  schema: promptSchema.optional().describe('The form of an input'),
  ui: json.optional(),
  url: z
    .url({ protocol: /^https$/, error: 'must be an https address' })
    .max(2000)
    .refine((url) => !/^https:\/\/[^/?#]*@/i.test(url), 'must not hold a name or password')
    .optional()
    .describe('Where a sign-in takes place'),
  proposal: proposedSchema.optional().describe('What an approval is asked for'),
  risk: risk.default('medium'),
  for: z.string().min(1).max(200).optional(),
  effect_key: effectKey.optional().describe('The effect this asks about: did it happen?'),
  request_id: requestId.optional(),
  checkpoint: json.optional().describe('Parking: kept for whoever goes on'),
  usage: usageReport.optional(),
})

/** What only one kind of question has: the field, and what is wrong where it is missing or out of place. */
const OWN = {
  url: {
    kind: 'auth',
    missing: 'a sign-in needs the https address to sign in at',
    misplaced: 'only a sign-in has a url',
  },
  proposal: {
    kind: 'approval',
    missing: 'an approval needs the action proposed',
    misplaced: 'only an approval has a proposal',
  },
  schema: { kind: 'input', missing: null, misplaced: 'only an input has a form' },
  effect_key: { kind: 'input', missing: null, misplaced: 'only an input asks about an effect' },
} as const

/** A question as a worker asks it. */
export const askSchema = fields.superRefine((ask, context) => {
  const wrong = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  for (const [field, { kind, missing, misplaced }] of Object.entries(OWN)) {
    const isGiven = ask[field as keyof typeof OWN] !== undefined
    if (isGiven && ask.kind !== kind) wrong(field, misplaced)
    if (!isGiven && ask.kind === kind && missing) wrong(field, missing)
  }
  if (ask.checkpoint !== undefined && ask.mode !== 'park') wrong('checkpoint', 'only parking leaves a checkpoint')
  if (ask.effect_key !== undefined && !asksWhetherItHappened(ask.schema)) {
    wrong('schema', 'a question about an effect has one boolean, happened, and nothing else')
  }
})

const asksWhetherItHappened = (schema: PromptSchema | undefined): boolean =>
  schema !== undefined &&
  Object.keys(schema.properties).join() === 'happened' &&
  schema.properties.happened?.type === 'boolean'
