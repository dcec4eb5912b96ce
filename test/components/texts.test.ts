import { expect, test } from 'vitest'
import { relative } from '../../components/shell/relative-time'
import { roughly, timeLeft, timeSpan } from '../../components/shell/time-span'
import { shown } from '../../components/shell/untrusted'

test.each([
  [0, '0 s', '0 s'],
  [59, '59 s', '59 s'],
  [61, '1 m', '1 m 1 s'],
  [3600, '1 h', '1 h'],
  [11_520, '3 h 12 m', '3 h 12 m'],
  [86_400, '24 h', '24 h'],
  [442_800, '5 d 3 h', '5 d 3 h'],
])('%i s is %s, and as what is left %s', (seconds, span, left) => {
  expect(timeSpan(seconds)).toBe(span)
  expect(timeLeft(seconds)).toBe(left)
  expect(span.startsWith(roughly(seconds))).toBe(true)
})

test('a time is told from now, whichever side it lies on', () => {
  const now = Date.parse('2026-11-30T12:00:00.000Z') / 1000
  expect(relative('2026-11-30T12:00:41.000Z', now)).toBe('in 41 s')
  expect(relative('2026-11-30T11:47:30.000Z', now)).toBe('12 m ago')
  expect(relative('2026-11-30T11:59:59.000Z', now)).toBe('just now')
})

test('what hides or turns text is shown by number; joiners, newlines and other scripts stay', () => {
  expect(shown('pay\u202eevil\u202c\u200b')).toBe('pay[U+202E]evil[U+202C][U+200B]')
  expect(shown('a\u0000b\u009f')).toBe('a[U+0000]b[U+009F]')
  const fine = 'پرداخت می‌شود\n\t👩‍👩‍👧 naïve'
  expect(shown(fine)).toBe(fine)
})
