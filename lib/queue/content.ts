import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats, { type FormatName } from 'ajv-formats'
import { Refusal, type Violation } from '#lib/model/errors'
import type { Interrupt } from '#lib/wire/interrupt'
import type { PromptSchema } from '#lib/wire/prompt-schema'

/** What a person said to a question. */
export interface Reply {
  action: 'accept' | 'decline'
  content?: unknown
  comment?: string | undefined
}

const PLAIN_ANSWER: PromptSchema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
}

const FORMATS: FormatName[] = ['email', 'uri', 'date', 'date-time']

/**
 * Checks an answer's content against its question: its schema, or `{"answer": string}` for an input without one; sign-ins
 * and approvals take none, nor does a decline. Refuses with validation_failed and a pointer per field.
 */
export function checkContent(interrupt: Interrupt, { action, content }: Reply): void {
  if (action === 'decline' || interrupt.kind !== 'input') {
    if (content === undefined || content === null) return
    const errors = [{ pointer: '/content', message: 'this answer takes no content' }]
    throw new Refusal('validation_failed', { errors })
  }
  const valid = validatorOf(interrupt)
  if (!valid(content ?? {})) throw new Refusal('validation_failed', { errors: violations(valid.errors ?? []) })
}

// Own properties only: a field may be called `constructor`, which every object has by inheritance.
// An Ajv of its own for each answer: one keeps whatever it ever compiled, even what is removed from it.
function validatorOf({ schema, effect_key }: Interrupt): ValidateFunction {
  const ajv = addFormats.default(
    new Ajv({ allErrors: true, strict: false, validateSchema: false, meta: false, ownProperties: true }),
    FORMATS,
  )
  const { $schema, ...form } = schema ?? PLAIN_ANSWER
  const required = effect_key ? ['happened'] : form.required
  return ajv.compile({ ...form, ...(required && { required }), additionalProperties: false })
}

// A choice reports each of its alternatives besides: the first violation of a place is the one that tells.
const violations = (errors: ErrorObject[]): Violation[] => [
  ...new Map([...errors].reverse().map((error) => [pointerOf(error), violation(error)])).values(),
]

const violation = (error: ErrorObject): Violation => ({
  pointer: pointerOf(error),
  message: MESSAGES[error.keyword] ?? error.message ?? 'is not valid',
})

const NOT_A_CHOICE = 'must be one of the choices'

const MESSAGES: Record<string, string> = {
  required: 'is required',
  additionalProperties: 'is not a field of this form',
  enum: NOT_A_CHOICE,
  const: NOT_A_CHOICE,
  oneOf: NOT_A_CHOICE,
  anyOf: NOT_A_CHOICE,
}

const pointerOf = ({ instancePath, params }: ErrorObject): string =>
  `/content${instancePath}${[params.missingProperty, params.additionalProperty].filter(isText).map(segment).join('')}`

const isText = (part: unknown): part is string => typeof part === 'string'

const segment = (key: string): string => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
