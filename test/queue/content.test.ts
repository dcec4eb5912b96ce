import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { Refusal, type Violation } from '#lib/model/errors'
import { checkContent, type Reply } from '#lib/queue/content'
import type { Interrupt } from '#lib/wire/interrupt'
import { type PromptProperty, promptSchema } from '#lib/wire/prompt-schema'

const question = (kind: Interrupt['kind'], schema: object | null): Interrupt =>
  ({ kind, schema: schema && promptSchema.parse(schema) }) as Interrupt

/** What is wrong with an answer; nothing when it is accepted. */
function violations(asked: Interrupt, reply: Reply): Violation[] {
  try {
    checkContent(asked, reply)
    return []
  } catch (error) {
    if (error instanceof Refusal && error.code === 'validation_failed') return error.facts.errors ?? []
    throw error
  }
}

const accept = (content: unknown): Reply => ({ action: 'accept', content })

const PALETTE = [
  { const: 'r', title: 'Red' },
  { const: 'g', title: 'Green' },
]

const PROPERTIES: [string, PromptProperty, unknown[], unknown[]][] = [
  ['string', { type: 'string' }, ['', 'é', 'a\nb'], [1, null, true, ['a'], {}]],
  ['length', { type: 'string', minLength: 2, maxLength: 3 }, ['ab', 'abc', '👍👍👍'], ['a', 'abcd', '']],
  ['email', { type: 'string', format: 'email' }, ['a@example.org'], ['a', 'a@', '@example.org', '']],
  ['uri', { type: 'string', format: 'uri' }, ['https://example.org/a?b#c'], ['example.org', '/a', 'http://a b']],
  [
    'date',
    { type: 'string', format: 'date' },
    ['2024-02-29'],
    ['2023-02-29', '2024-2-9', '20240209', '2024-02-29T00:00:00Z'],
  ],
  [
    'date-time',
    { type: 'string', format: 'date-time' },
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.5+05:30'],
    ['2024-02-29', '2024-02-29T25:00:00Z', '2024-02-29T12:00:00'],
  ],
  ['number', { type: 'number', minimum: -1.5, maximum: 2 }, [-1.5, 0, 2, 1e-9], [-1.6, 2.1, '1', null]],
  ['integer', { type: 'integer', minimum: 0, maximum: 9 }, [0, 9, 5.0], [-1, 10, 1.5, '5']],
  ['boolean', { type: 'boolean' }, [true, false], ['true', 0, 1, null]],
  ['enum', { type: 'string', enum: ['a', 'b'] }, ['a', 'b'], ['c', 'A', '', 1]],
  ['oneOf', { type: 'string', oneOf: PALETTE }, ['r', 'g'], ['Red', 'x', 1]],
  [
    'choices',
    { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 },
    [['a'], ['a', 'b']],
    [[], ['a', 'b', 'c'], ['d'], 'a', [1]],
  ],
  ['titled choices', { type: 'array', items: { anyOf: PALETTE } }, [[], ['r'], ['r', 'g']], [['Red'], 'r', [null]]],
]

describe.each(PROPERTIES)('a property: %s', (_, property, right, wrong) => {
  const asked = question('input', { type: 'object', properties: { field: property }, required: ['field'] })

  test.each(right.map((value) => [value]))('accepts %j', (value) => {
    expect(violations(asked, accept({ field: value }))).toEqual([])
  })

  test.each(wrong.map((value) => [value]))('refuses %j, once and with its place', (value) => {
    const [first, ...others] = violations(asked, accept({ field: value }))
    expect(others).toEqual([])
    expect(first?.pointer).toMatch(/^\/content\/field(\/0)?$/)
    expect(first?.message).toMatch(/^(must|is) /)
  })
})

const FORM = question('input', {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  title: 'A form',
  properties: { name: { type: 'string' }, 'a/b~c': { type: 'boolean' }, size: { type: 'integer', default: 3 } },
  required: ['name', 'a/b~c'],
})

test('every violation is told, each with a pointer to its field', () => {
  expect(
    violations(FORM, accept({ size: 'big', other: 1 })).sort((a, b) => a.pointer.localeCompare(b.pointer)),
  ).toEqual([
    { pointer: '/content/a~1b~0c', message: 'is required' },
    { pointer: '/content/name', message: 'is required' },
    { pointer: '/content/other', message: 'is not a field of this form' },
    { pointer: '/content/size', message: 'must be integer' },
  ])
})

test('a default fills nothing in: what is not answered is not stored', () => {
  const content = { name: 'n', 'a/b~c': true }
  expect(violations(FORM, accept(content))).toEqual([])
  expect(content).toEqual({ name: 'n', 'a/b~c': true })
})

describe('a field named like what every object has', () => {
  const NAMES = ['constructor', 'toString', 'valueOf', 'hasOwnProperty']

  test.each(NAMES)('%s is missing until it is given, and checked then', (name) => {
    const asked = question('input', { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] })
    const pointer = `/content/${name}`
    expect(violations(asked, accept({}))).toEqual([{ pointer, message: 'is required' }])
    expect(violations(asked, accept({ [name]: 1 }))).toEqual([{ pointer, message: 'must be string' }])
    expect(violations(asked, accept({ [name]: 'x' }))).toEqual([])
  })

  test.each([...NAMES, '__proto__'])('%s is none of a form that does not have it', (name) => {
    const content = JSON.parse(`{"name": "n", "a/b~c": true, "${name}": {"size": 4}}`)
    expect(violations(FORM, accept(content))).toEqual([
      { pointer: `/content/${name}`, message: 'is not a field of this form' },
    ])
  })

  test('__proto__ fills in no field', () => {
    const inherited = JSON.parse('{"__proto__": {"name": "n", "a/b~c": true}}')
    expect(
      violations(FORM, accept(inherited))
        .map(({ pointer }) => pointer)
        .sort(),
    ).toEqual(['/content/__proto__', '/content/a~1b~0c', '/content/name'])
  })
})

test.each([null, undefined, 'yes', 5, [], [{ name: 'n' }]])('a form takes no %j', (content) => {
  expect(violations(FORM, accept(content))).not.toEqual([])
})

test('without a form an answer is one text', () => {
  const asked = question('input', null)
  expect(violations(asked, accept({ answer: 'yes' }))).toEqual([])
  expect(violations(asked, accept(undefined))).toEqual([{ pointer: '/content/answer', message: 'is required' }])
  for (const content of [{ answer: 1 }, { answer: 'yes', more: 1 }, {}, 'yes']) {
    expect(violations(asked, accept(content))).toHaveLength(1)
  }
})

test.each(['auth', 'approval'] as const)('%s takes no content', (kind) => {
  expect(violations(question(kind, null), accept(undefined))).toEqual([])
  expect(violations(question(kind, null), accept({ answer: 'yes' }))).toMatchObject([{ pointer: '/content' }])
})

test('whoever declines fills in nothing', () => {
  expect(violations(FORM, { action: 'decline' })).toEqual([])
  expect(violations(FORM, { action: 'decline', content: { name: 'n' } })).toMatchObject([{ pointer: '/content' }])
})

test('a form that was answered is forgotten, so that memory doesn’t grow with each question', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const forms = Array.from({ length: 5 }, (_, n) => {
    const asked = question('input', { type: 'object', properties: { [`field${n}`]: { type: 'boolean' } } })
    expect(violations(asked, accept({ [`field${n}`]: true }))).toEqual([])
    return new WeakRef(asked.schema?.properties as object)
  })
  // What a weak reference names is kept until the present turn of the event loop is over.
  await new Promise(setImmediate)
  collect()
  expect(forms.filter((form) => form.deref()).length).toBeLessThanOrEqual(1)
})
