import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { Refusal, type Violation } from '#lib/model/errors'
import type { Interrupt } from '#lib/wire/interrupt'

/** What a person said to a question. */
export interface Reply {
  action: 'accept' | 'decline'
  content?: unknown
  comment?: string | undefined
}

const PLAIN_ANSWER = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
}

const ajv = addFormats.default(new Ajv({ allErrors: true, strict: false, validateSchema: false, addUsedSchema: false }))

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
  if (!valid(content ?? {})) throw new Refusal('validation_failed', { errors: (valid.errors ?? []).map(violation) })
}

function validatorOf({ schema }: Interrupt): ValidateFunction {
  if (!schema) return ajv.compile(PLAIN_ANSWER)
  const { $schema, ...rest } = schema
  return ajv.compile({ ...rest, additionalProperties: false })
}

function violation({ instancePath, keyword, params, message }: ErrorObject): Violation {
  const missing = keyword === 'required' ? `/${escaped(params.missingProperty)}` : ''
  const extra = keyword === 'additionalProperties' ? `/${escaped(params.additionalProperty)}` : ''
  return { pointer: `/content${instancePath}${missing}${extra}`, message: missing ? 'is required' : (message ?? 'is not valid') }
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')
