import type { z } from 'zod'
import { Refusal } from '#lib/model/errors'

/** Where a page ended, as an opaque text; its parts begin with a word that names the list. */
export const toCursor = (parts: readonly unknown[]): string => Buffer.from(JSON.stringify(parts)).toString('base64url')

/** The parts of a cursor; refuses one that this list didn't make with validation_failed. */
export function fromCursor<Parts extends z.ZodType>(cursor: string, parts: Parts): z.infer<Parts> {
  const read = parts.safeParse(parsed(cursor))
  if (read.success && toCursor(read.data as unknown[]) === cursor) return read.data
  const errors = [{ pointer: '?cursor', message: 'is none of this list; begin without one' }]
  throw new Refusal('validation_failed', { detail: 'The cursor cannot be read', errors })
}

function parsed(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
