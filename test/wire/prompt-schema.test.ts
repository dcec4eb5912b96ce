import { describe, expect, test } from 'vitest'
import { check } from '#lib/api/validate'
import { askSchema } from '#lib/wire/ask'
import { promptSchema } from '#lib/wire/prompt-schema'

const form = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const field = (property: object) => form({ field: property })
const isKept = (schema: unknown) => promptSchema.safeParse(schema)

const PALETTE = [
  { const: 'r', title: 'Red' },
  { const: 'g', title: 'Green' },
]

const KEPT: [string, object][] = [
  ['no field at all', form({})],
  ['a text', field({ type: 'string', title: 'T', description: 'D', default: 'x' })],
  ...['email', 'uri', 'date', 'date-time'].map((format): [string, object] => [
    format,
    field({ type: 'string', format }),
  ]),
  ['lengths', field({ type: 'string', minLength: 1, maxLength: 5 })],
  ['a number', field({ type: 'number', minimum: -0.5, maximum: 1.5, default: 1 })],
  ['an integer', field({ type: 'integer', minimum: 0, maximum: 5, default: 1 })],
  ['yes or no', field({ type: 'boolean', default: false })],
  ['one of', field({ type: 'string', enum: ['a', 'b'], default: 'a' })],
  ['one of, with titles', field({ type: 'string', oneOf: PALETTE, default: 'r' })],
  [
    'some of',
    field({ type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1, maxItems: 2, default: ['a'] }),
  ],
  ['some of, with titles (oneOf)', field({ type: 'array', items: { oneOf: PALETTE } })],
  ['some of, with titles (anyOf)', field({ type: 'array', items: { anyOf: PALETTE } })],
  ['a field that is required', form({ field: { type: 'string' } }, { required: ['field'] })],
  ['fields named like what every object has', form({ constructor: { type: 'string' }, toString: { type: 'boolean' } })],
  ['nothing beyond its fields', form({ field: { type: 'string' } }, { additionalProperties: false })],
  ['twenty fields', form(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, { type: 'boolean' }])))],
  [
    'what it says of itself',
    form({}, { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'T', description: 'D' }),
  ],
]

test.each(KEPT)('kept exactly as it is: %s', (_, schema) => {
  expect(isKept(schema)).toEqual({ success: true, data: schema })
})

const REFUSED: [string, unknown][] = [
  ['no object', { type: 'string' }],
  ['no type', { properties: {} }],
  ['no properties', { type: 'object' }],
  ['a list at the top', { type: 'array', items: { type: 'string' } }],
  ['an object within', field({ type: 'object', properties: {} })],
  ['a list of objects', field({ type: 'array', items: { type: 'object' } })],
  ['a list of any text', field({ type: 'array', items: { type: 'string' } })],
  ['a list of numbers', field({ type: 'array', items: { type: 'number', enum: [1] } })],
  ['a field without a type', field({ title: 'T' })],
  ['two types', field({ type: ['string', 'null'] })],
  ['null', field({ type: 'null' })],
  ['a pattern', field({ type: 'string', pattern: '^a*$' })],
  ['another format', field({ type: 'string', format: 'password' })],
  ['a const', field({ type: 'string', const: 'a' })],
  ['numbers to choose from', field({ type: 'number', enum: [1, 2] })],
  ['no choice', field({ type: 'string', enum: [] })],
  ['two ways to choose', field({ type: 'string', enum: ['a'], oneOf: PALETTE })],
  ['a choice without a title', field({ type: 'string', oneOf: [{ const: 'a' }] })],
  ['a choice that is a number', field({ type: 'string', oneOf: [{ const: 1, title: 'One' }] })],
  ['a choice that is more than that', field({ type: 'string', oneOf: [{ const: 'a', title: 'A', type: 'string' }] })],
  ['a step', field({ type: 'number', multipleOf: 2 })],
  ['an open bound', field({ type: 'number', exclusiveMinimum: 2 })],
  ['a length of nothing', field({ type: 'string', minLength: -1 })],
  ['a length that is a text', field({ type: 'string', minLength: '1' })],
  ['a bound for a text', field({ type: 'string', minimum: 1 })],
  ['a default of another type', field({ type: 'integer', default: 'x' })],
  ['how it looks', field({ type: 'string', 'ui:widget': 'textarea' })],
  ['a reference', form({ field: { $ref: '#/$defs/a' } })],
  ['definitions', form({}, { $defs: { a: { type: 'string' } } })],
  ['anything beyond its fields', form({}, { additionalProperties: true })],
  ['a condition', form({}, { if: {}, else: {} })],
  ['parts', form({}, { allOf: [] })],
  ['a required field that is none', form({ field: { type: 'string' } }, { required: ['other'] })],
  ['a required field that every object has', form({}, { required: ['toString'] })],
  ['twenty-one fields', form(Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, { type: 'boolean' }])))],
  ['a field without a name', form({ '': { type: 'string' } })],
  ['a field that would be lost', JSON.parse('{"type": "object", "properties": {"__proto__": {"type": "string"}}}')],
  ['nothing', null],
  ['a boolean', true],
  ['a list', []],
]

test.each(REFUSED)('refused: %s', (_, schema) => {
  expect(isKept(schema).success).toBe(false)
})

test('a refusal says where, and what may stand there', () => {
  const issues = isKept(form({ fine: { type: 'string' }, address: { type: 'object', properties: {} } })).error?.issues
  expect(issues).toMatchObject([{ path: ['properties', 'address'], message: expect.stringMatching(/string.*boolean/) }])
})

describe('a form that nobody could fill in is refused, and says where', () => {
  const IMPOSSIBLE: [string, object, string, RegExp][] = [
    ['a least number above the most', { type: 'integer', minimum: 5, maximum: 4 }, '', /^minimum is above maximum$/],
    [
      'a least length above the most',
      { type: 'string', minLength: 2, maxLength: 1 },
      '',
      /^minLength is above maxLength$/,
    ],
    [
      'more choices than there may be',
      { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 2, maxItems: 1 },
      '',
      /^minItems is above maxItems$/,
    ],
    ['a choice twice', { type: 'string', enum: ['a', 'b', 'a'] }, '/enum', /^names a choice twice$/],
    [
      'a choice twice, under two titles',
      { type: 'string', oneOf: [...PALETTE, { const: 'r', title: 'Ruby' }] },
      '/oneOf',
      /^names a choice twice$/,
    ],
    [
      'a choice twice, of several',
      { type: 'array', items: { type: 'string', enum: ['a', 'a'] } },
      '/items/enum',
      /^names a choice twice$/,
    ],
    [
      'a choice twice, of several with titles',
      { type: 'array', items: { anyOf: [...PALETTE, ...PALETTE] } },
      '/items/anyOf',
      /^names a choice twice$/,
    ],
  ]

  test.each(IMPOSSIBLE)('%s', (_, property, within, message) => {
    const asked = { lease_epoch: 1, title: 'T', schema: form({ fine: { type: 'boolean' }, field: property }) }
    expect(check('body', askSchema, asked)).toEqual({
      errors: [{ pointer: `/schema/properties/field${within}`, message: expect.stringMatching(message) }],
    })
  })

  test('a field that would be lost', () => {
    const schema = JSON.parse(
      '{"type": "object", "properties": {"__proto__": {"type": "string"}}, "required": ["__proto__"]}',
    )
    expect(check('body', askSchema, { lease_epoch: 1, title: 'T', schema })).toEqual({
      errors: [{ pointer: '/schema/properties/__proto__', message: 'is a name that no field can have' }],
    })
  })
})

describe('a question', () => {
  const ask = (more: object) => askSchema.safeParse({ lease_epoch: 1, title: 'T', ...more })

  test('is of input, held and of medium risk unless it says', () => {
    expect(ask({}).data).toEqual({ lease_epoch: 1, title: 'T', kind: 'input', mode: 'hold', risk: 'medium' })
  })

  test('of sign-in needs an https address, and takes no form', () => {
    expect(ask({ kind: 'auth', url: 'https://sign-in.example/a?b=c' }).success).toBe(true)
    for (const url of [
      undefined,
      '',
      'http://sign-in.example/',
      'javascript:alert(1)',
      'https://',
      'sign-in.example',
    ]) {
      expect(ask({ kind: 'auth', url }).success).toBe(false)
    }
    expect(ask({ kind: 'auth', url: 'https://sign-in.example/', schema: form({}) }).success).toBe(false)
  })

  test('of input takes a form, and no address', () => {
    expect(ask({ schema: field({ type: 'boolean' }) }).success).toBe(true)
    expect(ask({ url: 'https://sign-in.example/' }).success).toBe(false)
    expect(ask({ schema: { type: 'string' } }).success).toBe(false)
  })

  test.each([{ title: '' }, { title: 'x'.repeat(201) }, { kind: 'other' }, { more: 1 }, { lease_epoch: -1 }])(
    'is refused with %j',
    (more) => {
      expect(ask(more).success).toBe(false)
    },
  )
})
