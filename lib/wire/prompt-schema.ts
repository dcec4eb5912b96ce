import { z } from 'zod'

const text = z.string().max(2000)
const labelled = { title: text.optional(), description: text.optional() }
const length = z.int().min(0).max(1_000_000)
const option = z.strictObject({ const: z.string().max(500), title: text })
const options = z
  .array(z.string().max(500))
  .min(1)
  .max(200)
  .refine((values) => isOnce(values), 'names a choice twice')
const titled = z
  .array(option)
  .min(1)
  .max(200)
  .refine((all) => isOnce(all.map((one) => one.const)), 'names a choice twice')

const ordered = (least: string, most: string) => (property: object) => {
  const { [least]: from, [most]: to } = property as Record<string, number | undefined>
  return from === undefined || to === undefined || from <= to
}

const isOnce = (values: readonly string[]): boolean => new Set(values).size === values.length

const stringProperty = z.strictObject({
  type: z.literal('string'),
  ...labelled,
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  minLength: length.optional(),
  maxLength: length.optional(),
  default: z.string().optional(),
})

const choiceProperty = z.strictObject({
  type: z.literal('string'),
  ...labelled,
  enum: options.optional(),
  oneOf: titled.optional(),
  default: z.string().optional(),
})

const numberProperty = z.strictObject({
  type: z.enum(['number', 'integer']),
  ...labelled,
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.number().optional(),
})

const booleanProperty = z.strictObject({
  type: z.literal('boolean'),
  ...labelled,
  default: z.boolean().optional(),
})

const choicesProperty = z.strictObject({
  type: z.literal('array'),
  ...labelled,
  items: z.union([
    z.strictObject({ type: z.literal('string'), enum: options }),
    z.strictObject({ anyOf: titled }),
    z.strictObject({ type: z.literal('string').optional(), oneOf: titled }),
  ]),
  minItems: length.optional(),
  maxItems: length.optional(),
  default: z.array(z.string()).optional(),
})

const property = z.union(
  [
    stringProperty.refine(ordered('minLength', 'maxLength'), 'minLength is above maxLength'),
    choiceProperty.refine((choice) => (choice.enum === undefined) !== (choice.oneOf === undefined), {
      message: 'a choice has either enum or oneOf',
    }),
    numberProperty.refine(ordered('minimum', 'maximum'), 'minimum is above maximum'),
    booleanProperty,
    choicesProperty.refine(ordered('minItems', 'maxItems'), 'minItems is above maxItems'),
  ],
  "must be a string, number, integer, boolean, or choice of strings, with no other keywords than MCP's form elicitation has",
)
export type PromptProperty = z.infer<typeof property>

const properties = z
  .record(z.string().min(1).max(100), property)
  .refine((all) => Object.keys(all).length <= 20, 'at most 20 properties')

// A record leaves a key of this name out without a word, and the form would lose a field.
const withoutPrototype = z.preprocess((given, context) => {
  if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__')) {
    context.addIssue({ code: 'custom', path: ['__proto__'], message: 'is a name that no field can have' })
  }
  return given
}, properties) as unknown as typeof properties

/**
 * The JSON Schema of a prompt's form: the subset that MCP's form elicitation allows. A flat object of at most 20 strings,
 * numbers, booleans and choices; anything else is refused when the question is asked (domain.md, Interrupts).
 */
export const promptSchema = z
  .strictObject({
    $schema: z.string().max(500).optional(),
    type: z.literal('object'),
    title: text.optional(),
    description: text.optional(),
    properties: withoutPrototype,
    required: z.array(z.string()).max(20).optional(),
    additionalProperties: z.literal(false).optional(),
  })
  .refine((schema) => (schema.required ?? []).every((key) => Object.hasOwn(schema.properties, key)), {
    message: 'required names a property that does not exist',
    path: ['required'],
  })
export type PromptSchema = z.infer<typeof promptSchema>
