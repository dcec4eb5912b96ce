import { shown } from '../shell/untrusted'

/** Any JSON value. */
type Json = unknown

const SECRET =
  /pass(word|wd|phrase|code)?$|secret|token|api[-_]?key|authorization|credential|private[-_]?key|access[-_]?key|cookie|bearer/i
const MASK = '••••••••'
const DEEPER = '… nested deeper'
const MOST_TOGETHER = 100
const LONGEST_TEXT = 2000
const DEEPEST = 64

/**
 * A JSON value as it may be shown: what stands under a key that looks secret is masked, characters that cannot be seen
 * are shown, long texts are cut, and long lists come in parts, so that opening one never draws thousands of rows.
 */
export function showable(value: Json, depth = 0): Json {
  if (typeof value === 'string') return cut(shown(value))
  if (value === null || typeof value !== 'object') return value
  if (depth === DEEPEST) return DEEPER
  if (Array.isArray(value)) {
    return fold(
      value.map((one) => showable(one, depth + 1)),
      (part) => part,
    )
  }
  const entries = Object.entries(value).map(
    ([key, one]) => [shown(key), isSecret(key, one) ? MASK : showable(one, depth + 1)] as const,
  )
  return fold(entries, made)
}

/** The same value with secrets masked and nothing else changed, to be copied or kept. */
export function masked(value: Json, depth = 0): Json {
  if (value === null || typeof value !== 'object') return value
  if (depth === DEEPEST) return DEEPER
  if (Array.isArray(value)) return value.map((one) => masked(one, depth + 1))
  return made(Object.entries(value).map(([key, one]) => [key, isSecret(key, one) ? MASK : masked(one, depth + 1)]))
}

// A yes or no is no secret, and neither is nothing.
const isSecret = (key: string, value: Json): boolean => SECRET.test(key) && value !== null && typeof value !== 'boolean'

const cut = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}… (${text.length.toLocaleString('en')} characters)` : text

function fold<One>(all: readonly One[], together: (part: readonly One[]) => Json, first = 0): Json {
  if (all.length <= MOST_TOGETHER) return together(all)
  let size = MOST_TOGETHER
  while (size * MOST_TOGETHER < all.length) size *= MOST_TOGETHER
  const starts = Array.from({ length: Math.ceil(all.length / size) }, (_, index) => index * size)
  return made(
    starts.map((start) => {
      const part = all.slice(start, start + size)
      return [`${first + start} … ${first + start + part.length - 1}`, fold(part, together, first + start)]
    }),
  )
}

// A key named __proto__ is a key like others.
const made = (entries: Iterable<readonly [string, Json]>): Json => {
  const object = Object.create(null) as Record<string, Json>
  for (const [key, value] of entries) object[key] = value
  return object
}

/** How large a value is as JSON, in words. */
export function sizeOf(value: Json): string {
  const bytes = new Blob([JSON.stringify(value) ?? '']).size
  return bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${Math.ceil(bytes / 1024)} kB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`
}
