/** One value of a proposal's arguments, with the way to it. */
export interface Argument {
  path: string
  /** A text as it is, anything else as JSON. */
  text: string
}

const DEEPEST = 6

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null && size(value) > 0

const size = (value: object): number => Object.keys(value).length

/** Arguments as a table has them: every value by its path, in the order they were given; a single value has no path. */
export function argumentRows(given: unknown, path = '', depth = 0): Argument[] {
  if (!isBranch(given) || depth === DEEPEST) {
    return [{ path, text: typeof given === 'string' ? given : JSON.stringify(given) }]
  }
  const isList = Array.isArray(given)
  return Object.entries(given).flatMap(([key, value]) =>
    argumentRows(value, isList ? `${path}[${key}]` : path ? `${path}.${key}` : key, depth + 1),
  )
}
