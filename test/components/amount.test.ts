import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountOf, inWords, storable } from '../../components/settings/amount'

const SECONDS = { unit: 'seconds', off: true }

test('any whole number of seconds survives being shown and stored', () => {
  fc.assert(
    fc.property(fc.integer({ min: -10, max: 315_360_000 }), (value) => {
      expect(storable(amountOf(value, SECONDS))).toBe(String(value))
    }),
  )
})

test.each([
  [86_400, '24 hours'],
  [172_800, '2 days'],
  [3600, '1 hour'],
  [90, '90 seconds'],
  [0, 'off'],
])('%i s are said as %s', (value, words) => {
  expect(inWords(value, SECONDS)).toBe(words)
})

test.each([
  ['1.5', 'hours', '5400'],
  ['1,1', 'hours', '3960'],
  ['0', 'days', '0'],
  ['-1', 'seconds', '-1'],
  ['0.5', 'seconds', null],
  ['1e3', 'seconds', null],
  ['', 'minutes', null],
  ['24h', 'hours', null],
] as const)('%s %s is stored as %s', (text, unit, stored) => {
  expect(storable({ text, unit })).toBe(stored)
})
