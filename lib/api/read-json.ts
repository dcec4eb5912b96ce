import { isUtf8 } from 'node:buffer'
import { Refusal } from '#lib/model/errors'

const MOST_NESTED = 200

// Only these spellings can hide what PostgreSQL's jsonb refuses or a double cannot hold, so only then is the value walked.
const SUSPICIOUS = /\\u(?:0000|[dD][89a-fA-F])|[eE]\+?\d{3}|\d{309}/

/**
 * Reads JSON that PostgreSQL can keep as it is. Refuses with invalid_request what is not UTF-8 or not JSON, NUL and lone
 * surrogates anywhere, numbers beyond a double, and nesting deeper than 200.
 */
export function readJson(body: string | Uint8Array): unknown {
  if (typeof body !== 'string' && !isUtf8(body)) throw unreadable('The body is not UTF-8')
  const text =
    typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  refuseDepth(text)
  const value = parse(text)
  if (SUSPICIOUS.test(text) || !text.isWellFormed()) refuseUnstorable(value)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw unreadable(`The body is not JSON: ${(error as Error).message}`)
  }
}

const unreadable = (detail: string) => new Refusal('invalid_request', { detail })

/** Refuses with invalid_request a value that holds NUL, a lone surrogate or a number beyond a double, at any depth. */
export function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') refuseText(value)
  else if (typeof value === 'number' && !Number.isFinite(value)) throw unreadable('A number is too large')
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      refuseText(key)
      refuseUnstorable(inner)
    }
  }
}

function refuseText(text: string): void {
  if (text.includes('\0')) throw unreadable('Text must not hold the NUL character')
  if (!text.isWellFormed()) throw unreadable('Text must not hold half of a surrogate pair')
}

const QUOTE = 34
const BACKSLASH = 92

// Counts brackets outside strings. Both JSON.stringify and PostgreSQL run out of stack on what is nested deep enough.
function refuseDepth(text: string): void {
  if (text.length <= 2 * MOST_NESTED) return
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === 91 || code === 123) depth += 1
    else if (code === 93 || code === 125) depth -= 1
    if (depth > MOST_NESTED) throw unreadable(`The body is nested deeper than ${MOST_NESTED} levels`)
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}
