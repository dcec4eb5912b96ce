import { describe, expect, test } from 'vitest'
import type { PromptSchema } from '#lib/wire/prompt-schema'
import { contentOf, fieldsOf, wrongOf } from '../../components/inbox/fields'

const form = (properties: PromptSchema['properties'], required: string[] = []) =>
  fieldsOf({ kind: 'input', schema: { type: 'object', properties, required } })

describe('the fields of a question', () => {
  test('without a schema there is one required text, sent as answer', () => {
    const fields = fieldsOf({ kind: 'input', schema: null })
    expect(fields).toMatchObject([{ name: 'answer', isRequired: true, widget: { kind: 'long-text' } }])
    expect(contentOf(fields, { answer: 'yes' })).toEqual({ answer: 'yes' })
  })

  test('a sign-in has none', () => {
    expect(fieldsOf({ kind: 'auth', schema: null })).toEqual([])
  })

  test('stand in the order their asker gave them', () => {
    const text = { type: 'string' } as const
    expect(form({ a: text, b: text, c: text }, ['c', 'b']).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  })

  test.each([
    [
      { type: 'string', maxLength: 200 },
      { kind: 'text', type: 'text' },
    ],
    [{ type: 'string', maxLength: 201 }, { kind: 'long-text' }],
    [
      { type: 'string', format: 'email' },
      { kind: 'text', type: 'email' },
    ],
    [
      { type: 'string', format: 'date-time' },
      { kind: 'text', type: 'datetime-local' },
    ],
    [{ type: 'integer' }, { kind: 'number', isWhole: true }],
    [{ type: 'boolean', default: false }, { kind: 'tick' }],
    [{ type: 'boolean' }, { kind: 'yes-no' }],
    [
      { type: 'string', enum: ['a', 'a', 'b'] },
      { kind: 'one-of', choices: [{ value: 'a' }, { value: 'b' }] },
    ],
    [
      { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] } },
      { kind: 'some-of', choices: [{ label: 'X' }] },
    ],
  ] as const)('%j is asked for as %j', (property, widget) => {
    expect(form({ one: property as never }, ['one'])[0]?.widget).toMatchObject(widget)
  })

  test('what is left empty is not sent, what has a default is', () => {
    const fields = form({ a: { type: 'string' }, b: { type: 'integer', default: 3 }, c: { type: 'number' } })
    expect(contentOf(fields, { a: '', c: '2.5' })).toEqual({ b: 3, c: 2.5 })
  })

  test('a number that is none is sent as it is, for the server to refuse', () => {
    expect(contentOf(form({ n: { type: 'number' } }), { n: '-' })).toEqual({ n: '-' })
  })

  test('a time is sent with its zone', () => {
    const fields = form({ at: { type: 'string', format: 'date-time', default: '2026-11-03T12:00:00Z' } })
    expect(contentOf(fields, {})).toEqual({ at: '2026-11-03T12:00:00.000Z' })
  })

  test('a field may be named like what every object has', () => {
    const properties = JSON.parse('{"__proto__": {"type": "string"}, "valueOf": {"type": "string"}}')
    const fields = form(properties)
    expect(Object.entries(contentOf(fields, { valueOf: 'x' } as never))).toEqual([['valueOf', 'x']])
    expect(contentOf(form({ constructor: { type: 'string' as const } }, ['constructor']), {})).toEqual({})
    const typed = JSON.parse('{"__proto__": "x"}')
    expect(JSON.stringify(contentOf(fields, typed))).toBe('{"__proto__":"x"}')
  })
})

describe('what the server found wrong', () => {
  const fields = form({ 'a/b': { type: 'string' }, tags: { type: 'array', items: { type: 'string', enum: ['x'] } } })

  test('stands at the field its pointer names', () => {
    const { byField, others } = wrongOf(
      [
        { pointer: '/content/a~1b', message: 'is required' },
        { pointer: '/content/tags/0', message: 'must be one of the choices' },
      ],
      fields,
    )
    expect([...byField]).toEqual([
      ['a/b', 'Is required'],
      ['tags', 'Must be one of the choices'],
    ])
    expect(others).toEqual([])
  })

  test('is said at the form when it belongs to no field', () => {
    expect(wrongOf([{ pointer: '/content/gone', message: 'is not a field of this form' }], fields).others).toEqual([
      'Gone is not a field of this form',
    ])
  })
})

test("a field's help ends its own sentence before the limits begin", () => {
  const helpOf = (description: string) =>
    fieldsOf({
      kind: 'input',
      schema: { type: 'object', properties: { a: { type: 'string', description, maxLength: 200 } } },
    })[0]?.help
  expect(helpOf('For example MIT')).toBe('For example MIT. At most 200 characters.')
  expect(helpOf('Anything at all?')).toBe('Anything at all? At most 200 characters.')
})
