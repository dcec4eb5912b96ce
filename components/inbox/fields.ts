import type { Violation } from '#lib/model/errors'
import type { Interrupt } from '#lib/wire/interrupt'
import type { PromptProperty, PromptSchema } from '#lib/wire/prompt-schema'

/** What a field holds while it is being filled in: a number as typed, a time as the browser's own picker has it. */
export type FieldValue = string | number | boolean | string[]

/** One of the answers of a choice. */
export interface Choice {
  value: string
  label: string
}

/** How a field is asked for. */
export type Widget =
  | { kind: 'text'; type: 'text' | 'email' | 'url' | 'date' | 'datetime-local' }
  | { kind: 'long-text' }
  | { kind: 'number'; isWhole: boolean }
  | { kind: 'yes-no' }
  | { kind: 'tick' }
  | { kind: 'one-of'; choices: Choice[] }
  | { kind: 'some-of'; choices: Choice[] }

/** One field of a question's form. */
export interface Field {
  name: string
  label: string
  help: string
  isRequired: boolean
  property: PromptProperty
  widget: Widget
  /** What it holds before anything is typed. */
  first: FieldValue | undefined
}

const LONG = 200
const INPUTS = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' } as const

const PLAIN_ANSWER: PromptSchema = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
}

/** The fields of a question, in the order its asker gave them; an input without a schema has one, and other questions none. */
export function fieldsOf({ kind, schema }: Pick<Interrupt, 'kind' | 'schema'>): Field[] {
  if (kind !== 'input') return []
  const { properties, required = [] } = schema ?? PLAIN_ANSWER
  return Object.entries(properties).map(([name, property]) => {
    const isRequired = required.includes(name)
    const widget = widgetOf(property, isRequired)
    return {
      name,
      label: property.title || name,
      help: [ended(property.description), limitsOf(property)].filter(Boolean).join(' '),
      isRequired,
      property,
      widget,
      first: firstOf(property, widget),
    }
  })
}

// What follows would run into a description that ends without a stop.
const ended = (text: string | undefined): string => (text ? text.trim().replace(/[^\s.!?:…)]$/, '$&.') : '')

function widgetOf(property: PromptProperty, isRequired: boolean): Widget {
  switch (property.type) {
    case 'number':
    case 'integer':
      return { kind: 'number', isWhole: property.type === 'integer' }
    case 'boolean':
      // A box left unticked would answer a question nobody has read.
      return { kind: isRequired && property.default === undefined ? 'yes-no' : 'tick' }
    case 'array':
      return { kind: 'some-of', choices: choicesOf(property.items) }
    default:
      return textWidget(property)
  }
}

function textWidget(property: Extract<PromptProperty, { type: 'string' }>): Widget {
  if ('enum' in property || 'oneOf' in property) return { kind: 'one-of', choices: choicesOf(property) }
  const { format, maxLength = Number.POSITIVE_INFINITY } = property as {
    format?: keyof typeof INPUTS
    maxLength?: number
  }
  if (format) return { kind: 'text', type: INPUTS[format] }
  return maxLength > LONG ? { kind: 'long-text' } : { kind: 'text', type: 'text' }
}

type Titled = { const: string; title: string }

// One spelled twice is one choice.
function choicesOf(from: object): Choice[] {
  const { enum: plain, oneOf, anyOf } = from as { enum?: string[]; oneOf?: Titled[]; anyOf?: Titled[] }
  const all =
    plain?.map((value) => ({ value, label: value })) ??
    (oneOf ?? anyOf ?? []).map((one) => ({ value: one.const, label: one.title }))
  return [...new Map(all.map((choice) => [choice.value, choice])).values()]
}

function limitsOf(property: PromptProperty): string {
  switch (property.type) {
    case 'number':
    case 'integer':
      return range(property.minimum, property.maximum, '')
    case 'array':
      return range(property.minItems, property.maxItems, ' choice')
    case 'string':
      return 'minLength' in property || 'maxLength' in property
        ? range(property.minLength, property.maxLength, ' character')
        : ''
    default:
      return ''
  }
}

const figure = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 20 })

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return `${figure(least)} to ${counted(most, unit)}.`
  if (least !== undefined) return `At least ${counted(least, unit)}.`
  return most === undefined ? '' : `At most ${counted(most, unit)}.`
}

const counted = (count: number, unit: string): string => `${figure(count)}${unit}${unit && count !== 1 ? 's' : ''}`

function firstOf({ default: first }: PromptProperty, widget: Widget): FieldValue | undefined {
  return widget.kind === 'text' && widget.type === 'datetime-local' ? localTime(first as string | undefined) : first
}

// As the browser's picker wants it: no zone, this machine's time.
function localTime(iso: string | undefined): string | undefined {
  const at = Date.parse(iso ?? '')
  if (Number.isNaN(at)) return undefined
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** What a field holds now: what was typed, else its default. */
export const heldBy = (field: Field, typed: Record<string, FieldValue>): FieldValue | undefined =>
  Object.hasOwn(typed, field.name) ? typed[field.name] : field.first

/** What is sent: a JSON object by the fields' schema, without the fields left empty. The server says what is wrong with it. */
export function contentOf(fields: readonly Field[], typed: Record<string, FieldValue>): Record<string, FieldValue> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = sent(field, heldBy(field, typed))
      return value === undefined ? [] : [[field.name, value]]
    }),
  )
}

function sent({ widget, isRequired }: Field, value: FieldValue | undefined): FieldValue | undefined {
  // The empty text can be one of the choices.
  if (value === undefined) return undefined
  if (value === '' && widget.kind !== 'one-of') return undefined
  if (Array.isArray(value) && value.length === 0 && !isRequired) return undefined
  if (widget.kind === 'text' && widget.type === 'datetime-local') {
    const at = new Date(String(value))
    return Number.isNaN(at.getTime()) ? value : at.toISOString()
  }
  if (widget.kind === 'number' && typeof value === 'string') {
    const number = Number(value)
    return Number.isFinite(number) ? number : value
  }
  return value
}

/** What the server found wrong: by field, and what belongs to none. */
export interface Wrong {
  byField: ReadonlyMap<string, string>
  others: readonly string[]
}

const FIELD = /^\/content\/([^/]+)/
const unescaped = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~')

/** Sorts violations by the field their pointer names, so that each stands where it can be put right. */
export function wrongOf(errors: readonly Violation[], fields: readonly Field[]): Wrong {
  const byField = new Map<string, string>()
  const others: string[] = []
  for (const { pointer, message } of errors) {
    const segment = FIELD.exec(pointer)?.[1]
    const name = segment === undefined ? undefined : unescaped(segment)
    if (name !== undefined && fields.some((field) => field.name === name)) byField.set(name, sentence(message))
    else others.push(sentence(`${unescaped(pointer.replace(/^\/(content\/?)?/, ''))} ${message}`.trim()))
  }
  return { byField, others }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
