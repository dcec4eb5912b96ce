import { z } from 'zod'
import type { Violation } from '#lib/model/errors'
import { refuseUnstorable } from './read-json'
import { decoded } from './routes'

/** A query's fields: repeatable ones as lists, the others as text. */
export interface QueryFields {
  fields: Record<string, string | string[]>
  /** Fields given twice that take one value. */
  twice: Violation[]
}

/** Reads a query string for a schema, which says what may be repeated. Refuses what cannot be decoded with invalid_request. */
export function readQuery(query: string, schema: z.ZodType | undefined): QueryFields {
  const repeatable = repeatableOf(schema)
  const fields: Record<string, string | string[]> = Object.create(null)
  const twice = new Set<string>()
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const key = textOf(at < 0 ? pair : pair.slice(0, at))
    const value = at < 0 ? '' : textOf(pair.slice(at + 1))
    const before = fields[key]
    if (before !== undefined && !repeatable.has(key)) twice.add(key)
    fields[key] = repeatable.has(key) ? [...(before ?? []), value] : value
  }
  const errors = [...twice].map((key) => ({ pointer: `?${key}`, message: 'was given more than once' }))
  return { fields: { ...fields }, twice: errors }
}

function textOf(encoded: string): string {
  const text = decoded(encoded.replaceAll('+', ' '))
  refuseUnstorable(text)
  return text
}

const known = new WeakMap<z.ZodType, ReadonlySet<string>>()
const NONE: ReadonlySet<string> = new Set()

function repeatableOf(schema: z.ZodType | undefined): ReadonlySet<string> {
  if (!(schema instanceof z.ZodObject)) return NONE
  const names = known.get(schema) ?? new Set(Object.keys(schema.shape).filter((key) => isList(schema.shape[key])))
  known.set(schema, names)
  return names
}

const isList = (field: unknown): boolean =>
  field instanceof z.ZodOptional ? isList(field.unwrap()) : field instanceof z.ZodArray
