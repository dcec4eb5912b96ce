import type { Interrupt } from '#lib/wire/interrupt'
import { interruptSchema } from '#lib/wire/interrupt'

const NAMES = Object.keys(interruptSchema.shape) as (keyof Interrupt)[]

/** SQL for an interrupt's columns as they go on the wire; `alias` names a row of `interrupts` in scope. */
export const interruptColumns = (alias: string): string =>
  NAMES.map((name) => (name === 'for' ? `${alias}.addressed_to AS "for"` : `${alias}.${name}`)).join(', ')

/** The interrupt in a row that may carry more columns than its own. */
export const interruptOf = (row: Record<string, unknown>): Interrupt =>
  Object.fromEntries(NAMES.map((name) => [name, row[name] ?? null])) as Interrupt
