import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readSetting, SETTINGS, type Setting, type SettingKey } from '#lib/model/settings'
import { times } from '../support/numbers'

const TEN_YEARS = 3650 * 86_400
const TTL = 'interrupt_lease_ttl_seconds'

test.each([null, undefined])('no row means the default: %s', (stored) => {
  expect(readSetting(TTL, stored)).toEqual({ value: 86_400 })
})

test.each(['', ' 60 ', '60s', '1e3', '0.5', 'NaN', '60\n', '+60', '--60', '-', '0x10', '1_000', '１２', 'Infinity'])(
  'text that is no integer means the default, and is told: %j',
  (stored) => {
    expect(readSetting(TTL, stored)).toEqual({ value: 86_400, problem: expect.stringContaining(stored.trim()) })
  },
)

test.each([
  ['-1', 0],
  ['0', 0],
  ['-0', 0],
  [`-${10 ** 18}`, 0],
])('zero and less turn the sweep off: %s', (stored, value) => {
  expect(readSetting(TTL, stored)).toEqual({ value })
})

test.each([
  ['1', 60],
  ['59', 60],
  [`${2 ** 31}`, TEN_YEARS],
  [`${2 ** 53}`, TEN_YEARS],
  ['1000000000000000000', TEN_YEARS],
  ['9'.repeat(400), TEN_YEARS],
])('what is out of range is moved to its edge, and that is told: %s', (stored, value) => {
  expect(readSetting(TTL, stored)).toEqual({ value, problem: expect.stringContaining(`${value}`) })
})

test.each([
  ['60', 60],
  ['61', 61],
  ['007200', 7200],
  [`${TEN_YEARS}`, TEN_YEARS],
])('what is in range is in force: %s', (stored, value) => {
  expect(readSetting(TTL, stored)).toEqual({ value })
})

describe.each(Object.entries(SETTINGS) as [SettingKey, Setting][])('%s', (key, setting) => {
  test('has a default that is in range', () => {
    expect(readSetting(key, `${setting.default}`)).toEqual({ value: setting.default })
  })

  test('is in range whatever is stored', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.bigInt().map(String), fc.double().map(String)), (stored) => {
        const { value } = readSetting(key, stored)
        const isOff = setting.off === true && value === 0
        expect(isOff || (value >= setting.minimum && value <= setting.maximum)).toBe(true)
      }),
      { numRuns: times(200, 20_000) },
    )
  })

  test('never means off unless it may', () => {
    expect(readSetting(key, '0').value === 0).toBe(setting.off === true)
  })
})
