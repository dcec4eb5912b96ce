import type { Operation } from '#lib/wire/operation'

/** What a caller of an operation gives: path parameters, query and body in one object. */
export type Given = Record<string, unknown>

/** One operation's request, ready to be sent any number of times. */
export interface ApiRequest {
  method: Operation['method']
  /** Path and query, under the server's root. */
  path: string
  /** JSON, or undefined where the operation has no body. */
  body: string | undefined
}

/** Splits what a caller gave by the operation's row: what its path names goes there, the rest is the body, or else the query. */
export function requestFor(operation: Operation, given: Given): ApiRequest {
  const named = new Set([...operation.path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key))
  const rest = Object.entries(given).filter(([key, value]) => !named.has(key) && value !== undefined)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(given[key])))
  const body = operation.body ? JSON.stringify(Object.fromEntries(rest)) : undefined
  return { method: operation.method, path: operation.body ? path : `${path}${queryOf(rest)}`, body }
}

function queryOf(entries: [string, unknown][]): string {
  const pairs = entries.flatMap(([key, value]) => [value].flat().map((each): [string, string] => [key, String(each)]))
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : ''
}
