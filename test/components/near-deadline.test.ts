import { expect, test } from 'vitest'
import { nearDeadline } from '../../components/board/near-deadline'

const NOW = Date.parse('2026-11-30T12:00:00.000Z') / 1000
const at = (deadline_at: string | null, state: 'pending' | 'claimed' | 'completed' = 'claimed') =>
  nearDeadline({ state, deadline_at }, NOW)

test('the deadline of a live todo is told once it is less than a day off', () => {
  expect(at(null)).toBeNull()
  expect(at('2026-12-01T12:00:01.000Z')).toBeNull()
  expect(at('2026-12-01T11:59:00.000Z')).toBe('deadline in 23 h 59 m')
  expect(at('2026-11-30T12:00:40.000Z', 'pending')).toBe('deadline in 40 s')
  expect(at('2026-11-30T11:58:00.000Z')).toBe('deadline over for 2 m')
  expect(at('2026-11-30T12:00:40.000Z', 'completed')).toBeNull()
})
