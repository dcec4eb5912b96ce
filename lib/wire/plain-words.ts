import type { z } from 'zod'

type RawIssue = z.core.$ZodRawIssue

/**
 * What is wrong with a value in our own words, as they follow the name of its place: `must be a whole number`. To be given
 * to a parse as its `error`; what a schema says itself goes before.
 */
export function plainWords(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return oneOf(issue.values)
    case 'too_small':
      return least(issue)
    case 'too_big':
      return most(issue)
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'of another form'}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return 'holds what is not known here'
    case 'invalid_key':
      return `has a name that ${issue.issues[0]?.message ?? 'is not valid'}`
    default:
      return 'is not valid'
  }
}

const TYPES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

const FORMATS: Record<string, string> = {
  email: 'an e-mail address',
  url: 'an address, like https://example.org',
  datetime: 'a time with its zone, like 2030-01-31T12:00:00Z',
  date: 'a date, like 2030-01-31',
  uuid: 'a UUID',
}

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${JSON.stringify(values[0])}` : `must be one of ${values.map(String).join(', ')}`

const UNITS: Record<string, string> = { string: 'character', array: 'entry' }

const counted = (count: number | bigint, unit: string): string => {
  if (Number(count) === 1) return `1 ${unit}`
  return `${count} ${unit === 'entry' ? 'entries' : `${unit}s`}`
}

function least({ origin, minimum, inclusive, exact }: Extract<RawIssue, { code: 'too_small' }>): string {
  const unit = UNITS[origin]
  if (!unit) return inclusive ? `must be at least ${minimum}` : `must be more than ${minimum}`
  if (minimum === 1 && !exact) return 'must not be empty'
  return `must have ${exact ? 'exactly' : 'at least'} ${counted(minimum, unit)}`
}

function most({ origin, maximum, inclusive, exact }: Extract<RawIssue, { code: 'too_big' }>): string {
  const unit = UNITS[origin]
  if (!unit) return inclusive ? `must be at most ${maximum}` : `must be less than ${maximum}`
  return `must have ${exact ? 'exactly' : 'at most'} ${counted(maximum, unit)}`
}
