import { isTerminal } from '#lib/model/states'
import type { Card } from '#lib/wire/todo'
import { timeLeft, timeSpan } from '../shell/time-span'

const NEAR_SECONDS = 24 * 3600

/** How far off the deadline of a live todo is, in words, once it is less than a day; `now` in seconds since 1970. */
export function nearDeadline({ state, deadline_at }: Pick<Card, 'state' | 'deadline_at'>, now: number): string | null {
  if (deadline_at === null || isTerminal(state)) return null
  const left = Math.floor(Date.parse(deadline_at) / 1000) - now
  if (left > NEAR_SECONDS) return null
  return left > 0 ? `deadline in ${timeLeft(left)}` : `deadline over for ${timeSpan(-left)}`
}
