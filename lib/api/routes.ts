import { Refusal } from '#lib/model/errors'
import type { Operation } from '#lib/wire/operation'
import { OPERATIONS, type OperationName } from '#lib/wire/operations'

/** An operation, by its name. */
export interface Named {
  name: OperationName
  operation: Operation
}

/** All operations of one path, by method, and the parameters that this request's path holds. */
export interface Route {
  /** The path with its parameters in braces. */
  template: string
  operations: ReadonlyMap<string, Named>
  params: Record<string, string>
}

interface Compiled {
  template: string
  parts: string[]
  operations: Map<string, Named>
}

const byTemplate = new Map<string, Compiled>()
for (const [name, operation] of Object.entries<Operation>(OPERATIONS)) {
  const { path: template, method } = operation
  const compiled = byTemplate.get(template) ?? { template, parts: template.split('/'), operations: new Map() }
  byTemplate.set(template, compiled)
  compiled.operations.set(method, { name: name as OperationName, operation })
}

const all = [...byTemplate.values()]
const fixed = new Map(all.filter(({ template }) => !template.includes('{')).map((route) => [route.template, route]))
const open = new Map<number, Compiled[]>()
for (const route of all.filter(({ template }) => template.includes('{'))) {
  open.set(route.parts.length, [...(open.get(route.parts.length) ?? []), route])
}

/** The route of a path as it was sent, or null; a path with fixed words goes before one with parameters. Refuses malformed escapes with invalid_request. */
export function routeOf(path: string): Route | null {
  const exact = fixed.get(path)
  if (exact) return { ...exact, params: {} }
  const parts = path.split('/')
  const route = open.get(parts.length)?.find((candidate) => fits(candidate.parts, parts))
  return route ? { ...route, params: paramsOf(route.parts, parts) } : null
}

const fits = (template: string[], parts: string[]): boolean =>
  template.every((word, at) => (word.startsWith('{') ? parts[at] !== '' : word === parts[at]))

function paramsOf(template: string[], parts: string[]): Record<string, string> {
  const given = template.flatMap((word, at) =>
    word.startsWith('{') ? [[word.slice(1, -1), decoded(parts[at] ?? '')]] : [],
  )
  return Object.fromEntries(given)
}

/** The methods a route answers, as the Allow header lists them. */
export function allowedMethods({ operations }: Pick<Route, 'operations'>): string {
  const methods = [...operations.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  return [...methods, 'OPTIONS'].join(', ')
}

/** A percent-encoded text as it was meant; refuses malformed escapes with invalid_request. */
export function decoded(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Refusal('invalid_request', { detail: 'The address holds a malformed percent escape' })
  }
}
