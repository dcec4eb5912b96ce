import { z } from 'zod'
import { code, table } from './docs-text'

/** The part of JSON Schema that our shapes come out as. */
interface Shape {
  type?: string
  format?: string
  pattern?: string
  description?: string
  default?: unknown
  const?: unknown
  enum?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  items?: Shape
  properties?: Record<string, Shape>
  required?: string[]
}

// Deeper than this a field is described where it has its own section: the schema of a prompt.
const DEEPEST = 2

/** The fields of a request's part as a table: name, what it may hold, whether it must be there. */
export function fields(schema: z.ZodType, io: 'input' | 'output'): string {
  const shape = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Shape
  return table(['Field', 'Holds', 'Needed'], rows(shape, '', 0))
}

function rows({ properties = {}, required = [] }: Shape, prefix: string, depth: number): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    const own = [code(path), holds(field), required.includes(name) && field.default === undefined ? 'yes' : '']
    return [own, ...inner(field, path, depth + 1)]
  })
}

function inner(field: Shape, path: string, depth: number): string[][] {
  if (depth >= DEEPEST) return []
  if (field.type === 'array' && field.items) return rows(field.items, `${path}[].`, depth)
  return rows(field, `${path}.`, depth)
}

function holds(field: Shape): string {
  const fallback = field.default === undefined ? '' : `${code(String(field.default))} unless given`
  return [kind(field), field.description, fallback].filter(Boolean).join('; ')
}

function kind(field: Shape): string {
  if (field.enum) return field.enum.map((value) => code(String(value))).join(', ')
  if (field.const !== undefined) return code(String(field.const))
  if (field.type === 'array') return `list${items(field)}`
  if (field.type === 'integer') return `whole number${range(field.minimum, field.maximum)}`
  if (field.type === 'number') return `number${range(field.minimum, field.maximum)}`
  if (field.format === 'date-time') return 'time, ISO 8601'
  if (field.pattern) return `text that matches ${code(field.pattern)}`
  if (field.type === 'string') return `text${range(field.minLength, field.maxLength, ' characters')}`
  return field.type ?? 'any JSON'
}

const items = ({ items: of, minItems, maxItems }: Shape): string =>
  `${range(minItems, maxItems)}${of && !of.properties ? ` of ${kind(of)}` : ''}`

function range(least: number | undefined, given: number | undefined, unit = ''): string {
  // What JSON can hold is no limit of ours.
  const most = given === Number.MAX_SAFE_INTEGER ? undefined : given
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}${unit}`
  if (most !== undefined) return `, at most ${most}${unit}`
  return least === undefined ? '' : `, at least ${least}${unit}`
}
