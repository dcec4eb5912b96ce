import { z } from 'zod'
import * as answers from '#lib/wire/answers'
import { askSchema } from '#lib/wire/ask'
import * as bodies from '#lib/wire/bodies'
import { effectSchema } from '#lib/wire/effect'
import { eventSchema } from '#lib/wire/event'
import { frameDataSchema, leaseSchema, noteSchema, readySchema, transitionSchema } from '#lib/wire/frame'
import { interruptSchema } from '#lib/wire/interrupt'
import { acceptInvitationSchema, meAnswer, namesAnswer, personAnswer, personSchema } from '#lib/wire/person'
import { promptSchema } from '#lib/wire/prompt-schema'
import { previewAnswer, settingAnswer, settingChangeSchema, settingSchema, settingsAnswer } from '#lib/wire/setting'
import { attemptSchema, cardSchema, claimedTodoSchema, errorSchema, todoSchema } from '#lib/wire/todo'

/** A JSON Schema, or another object of an OpenAPI document. */
export type JsonSchema = Record<string, unknown>

const SHARED = { promptSchema }
const IN = { ...bodies, askSchema, acceptInvitationSchema, settingChangeSchema }
const OUT = {
  todoSchema,
  cardSchema,
  claimedTodoSchema,
  attemptSchema,
  interruptSchema,
  effectSchema,
  eventSchema,
  errorSchema,
  transitionSchema,
  readySchema,
  leaseSchema,
  noteSchema,
  frameDataSchema,
  personSchema,
  personAnswer,
  meAnswer,
  namesAnswer,
  settingSchema,
  settingAnswer,
  settingsAnswer,
  previewAnswer,
  ...answers,
}

let made: Record<string, JsonSchema> | undefined

/** The wire's own schemas by name, as callers give them (bodies) and get them (answers). */
export function components(): Record<string, JsonSchema> {
  made ??= { ...toJson('input', { ...SHARED, ...IN }), ...toJson('output', { ...SHARED, ...OUT }) }
  return made
}

/** The name of a schema's component, if it has one. */
export function nameOf(schema: z.ZodType): string | undefined {
  const found = Object.entries<z.ZodType>({ ...IN, ...OUT, ...SHARED }).find(([, named]) => named === schema)
  return found && titleOf(found[0])
}

/** A reference to a schema's component; a schema without one stands there itself. */
export function refTo(schema: z.ZodType): JsonSchema {
  const name = nameOf(schema)
  return name ? { $ref: `#/components/schemas/${name}` } : plain(z.toJSONSchema(schema, optionsFor('output')))
}

/** One field of a schema. */
export interface Field {
  name: string
  required: boolean
  schema: JsonSchema
}

/** The fields of what a schema takes, as callers give them. */
export function fieldsOf(schema: z.ZodType | undefined): Field[] {
  if (!schema) return []
  const named = components()[nameOf(schema) ?? '']
  const { properties = {}, required = [] } = (named ?? z.toJSONSchema(schema, optionsFor('input'))) as Fields
  return Object.entries(properties).map(([name, field]) => ({ name, required: required.includes(name), schema: field }))
}

interface Fields {
  properties?: Record<string, JsonSchema>
  required?: string[]
}

function toJson(io: 'input' | 'output', schemas: Record<string, z.ZodType>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [name, schema] of Object.entries(schemas)) registry.add(schema, { id: titleOf(name) })
  const made = z.toJSONSchema(registry, { ...optionsFor(io), uri: (id) => `#/components/schemas/${id}` })
  return Object.fromEntries(Object.entries(made.schemas).map(([name, schema]) => [name, plain(schema)]))
}

// `newTodoSchema` is the component NewTodo.
function titleOf(name: string): string {
  const bare = name.replace(/Schema$/, '')
  return `${bare.charAt(0).toUpperCase()}${bare.slice(1)}`
}

const plain = ({ $schema, $id, ...schema }: JsonSchema): JsonSchema => schema

type Options = NonNullable<Parameters<typeof z.toJSONSchema>[1]>

const optionsFor = (io: 'input' | 'output'): Options => ({
  io,
  unrepresentable: 'any',
  override: ({ jsonSchema }) => {
    // What zod writes for a time is longer than all else together, and says no more than its format.
    if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
    // Answers may gain fields.
    if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  },
})
