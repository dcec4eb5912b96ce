import { z } from 'zod'
import type { Violation } from '#lib/model/errors'
import { plainWords } from '#lib/wire/plain-words'

/** Where a part of a request stands: how its pointers are written. */
export type Part = 'params' | 'query' | 'body'

/** What is wrong with one part of a request, or its value as the schema reads it. */
export type Checked = { value: unknown } | { errors: Violation[] }

const NOTHING = z.strictObject({})

/** Checks a part against its schema; without one it must be empty. Pointers: `/title` into the body, `?limit` in the query, `{id}` in the path. */
export function check(part: Part, schema: z.ZodType | undefined, input: unknown): Checked {
  const parsed = (schema ?? NOTHING).safeParse(input, { error: plainWords })
  if (parsed.success) return { value: parsed.data }
  return { errors: parsed.error.issues.flatMap((issue) => violations(part, issue, input)) }
}

type Issue = z.core.$ZodIssue

function violations(part: Part, issue: Issue, input: unknown): Violation[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ pointer: pointer(part, [...issue.path, key]), message: 'is not known here' }))
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return closest(issue.errors).flatMap((inner) =>
      violations(part, { ...inner, path: [...issue.path, ...inner.path] }, input),
    )
  }
  const missing = issue.code === 'invalid_type' && valueAt(input, issue.path) === undefined
  return [{ pointer: pointer(part, issue.path), message: missing ? 'is required' : issue.message }]
}

/** The alternative that was probably meant: the one with the fewest complaints, and among those the one that came furthest. */
function closest(alternatives: Issue[][]): Issue[] {
  const depth = (issues: Issue[]) => Math.max(...issues.map(({ path }) => path.length))
  return [...alternatives].sort((a, b) => a.length - b.length || depth(b) - depth(a))[0] ?? []
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

const escaped = (key: PropertyKey): string => String(key).replaceAll('~', '~0').replaceAll('/', '~1')

function pointer(part: Part, path: readonly PropertyKey[]): string {
  if (part === 'body') return path.map((key) => `/${escaped(key)}`).join('')
  return part === 'query' ? `?${String(path[0] ?? '')}` : `{${String(path[0] ?? '')}}`
}
