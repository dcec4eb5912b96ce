import { expect, test } from 'vitest'
import { SETTINGS } from '#lib/model/settings'
import { quantity } from '../../components/shell/quantity'

test.each([
  [60, '1 min'],
  [90, '90 s'],
  [300, '5 min'],
  [7200, '2 h'],
  [86_400, '24 h'],
  [172_800, '2 d'],
  [0, 'off'],
  [-5, 'off'],
])('%d seconds are shown as %s', (seconds, shown) => {
  expect(quantity(SETTINGS.interrupt_lease_ttl_seconds, seconds)).toBe(shown)
})

test('what is no time has no unit', () => {
  expect(quantity(SETTINGS.max_attempts, 3)).toBe('3')
})
