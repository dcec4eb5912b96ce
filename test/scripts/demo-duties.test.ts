import { expect, test } from 'vitest'
import { askSchema } from '#lib/wire/ask'
import { dutyOf, proposalFor } from '../../scripts/demo-duties'

test.each([
  ['MIT', undefined],
  ['NOASSERTION', undefined],
  ['Apache-2.0 AND ISC', undefined],
  ['MPL-2.0', 'low'],
  ['LGPL-3.0-or-later', 'low'],
  ['EPL-2.0', 'low'],
  ['CC-BY-4.0', undefined],
  ['CC-BY-SA-4.0', 'medium'],
  ['GPL-2.0-only', 'high'],
  ['AGPL-3.0', 'high'],
])('%s carries duties of risk %s', (licence, risk) => {
  expect(dutyOf(licence)?.risk).toBe(risk)
})

test('of a choice the lightest way counts, of licences together the heaviest', () => {
  expect(dutyOf('MIT OR GPL-3.0-only')).toBeNull()
  expect(dutyOf('MPL-2.0 OR GPL-3.0-only')?.risk).toBe('low')
  expect(dutyOf('MIT AND MPL-2.0')?.risk).toBe('low')
  expect(dutyOf('MPL-2.0 AND GPL-3.0-only')?.risk).toBe('high')
  expect(dutyOf('(MIT OR GPL-3.0-only) AND LGPL-2.1-only')?.risk).toBe('low')
})

test('what is proposed can be asked, and names exactly what would be shipped', () => {
  const about = { name: 'some', version: '1.0.0', path: 'node_modules/some' }
  const { action, arguments: given, key, ...rest } = proposalFor(about, 'MPL-2.0', dutyOf('MPL-2.0') ?? fail())
  const asked = { ...rest, kind: 'approval', proposal: { action, arguments: given }, lease_epoch: 1 }
  expect(askSchema.safeParse(asked).success).toBe(true)
  expect(rest).toMatchObject({ title: 'Ship some 1.0.0 under MPL-2.0?', risk: 'low' })
  expect(given).toEqual({ name: 'some', version: '1.0.0', licence: 'MPL-2.0' })
})

function fail(): never {
  throw new Error('MPL-2.0 carries duties')
}
