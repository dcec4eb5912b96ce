import { expect, test } from 'vitest'
import { z } from 'zod'
import { check } from '#lib/api/validate'
import type { Operation } from '#lib/wire/operation'
import { OPERATIONS } from '#lib/wire/operations'
import { plainWords } from '#lib/wire/plain-words'

const said = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, { error: plainWords }).error?.issues.map(({ message }) => message)

test.each<[z.ZodType, unknown, string]>([
  [z.string(), 1, 'must be a text'],
  [z.number(), '1', 'must be a number'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.int(), '1', 'must be a number'],
  [z.boolean(), 'true', 'must be true or false'],
  [z.array(z.string()), {}, 'must be a list'],
  [z.strictObject({}), [], 'must be an object'],
  [z.record(z.string(), z.string()), null, 'must be an object'],
  [z.enum(['a', 'b']), 'c', 'must be one of a, b'],
  [z.literal('a'), 'c', 'must be "a"'],
  [z.string().min(1), '', 'must not be empty'],
  [z.string().min(8), 'x', 'must have at least 8 characters'],
  [z.string().max(1), 'xx', 'must have at most 1 character'],
  [z.string().length(2), 'x', 'must have exactly 2 characters'],
  [z.array(z.int()).min(1), [], 'must not be empty'],
  [z.array(z.int()).max(1), [1, 2], 'must have at most 1 entry'],
  [z.array(z.int()).max(2), [1, 2, 3], 'must have at most 2 entries'],
  [z.int().min(2), 1, 'must be at least 2'],
  [z.int().max(2), 3, 'must be at most 2'],
  [z.int(), 2 ** 53, 'must be at most 9007199254740991'],
  [z.number().positive(), 0, 'must be more than 0'],
  [z.number().lt(5), 5, 'must be less than 5'],
  [z.number().multipleOf(5), 4, 'must be a multiple of 5'],
  [z.email(), 'x', 'must be an e-mail address'],
  [z.url(), 'x', 'must be an address, like https://example.org'],
  [z.iso.datetime(), 'x', 'must be a time with its zone, like 2030-01-31T12:00:00Z'],
  [z.record(z.string().min(1), z.string()), { '': 'x' }, 'has a name that must not be empty'],
  [z.string().refine(() => false), 'x', 'is not valid'],
])('%#: what is wrong is said as it follows a name', (schema, value, words) => {
  expect(said(schema, value)).toEqual([words])
})

test('what a schema says itself goes before', () => {
  expect(said(z.string().regex(/^a$/, 'must be an a'), 'b')).toEqual(['must be an a'])
})

const ODD = [1.5, -1, 'x'.repeat(10_000), '', null, true, [], {}, ['x'], { x: 1 }, 1e300, 'Not A Name']

// The words of the library begin with a capital: "Invalid input: expected string, received number".
test.each(Object.entries<Operation>(OPERATIONS))('%s refuses nothing in words that are not ours', (_, operation) => {
  const words = (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = operation[part]
    const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
    const inputs = ODD.flatMap((odd) => [odd, Object.fromEntries(fields.map((field) => [field, odd]))])
    return inputs.map((input) => check(part, schema, input))
  })
  const messages = words.flatMap((checked) => ('errors' in checked ? checked.errors : [])).map(({ message }) => message)
  expect(messages.length).toBeGreaterThan(0)
  expect(messages.filter((message) => !/^[a-z]/.test(message))).toEqual([])
})
