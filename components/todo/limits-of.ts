import type { Budget, Card } from '#lib/wire/todo'
import { timeSpan } from '../shell/time-span'

/** Something of which a todo may use so much, or any amount: how much it has used, and how amounts of it are said. */
export interface Limit {
  key: keyof Budget
  name: string
  used: number
  of: number | null
  text(amount: number): string
}

const money = (amount: number): string =>
  new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: amount < 1 ? 4 : 2 }).format(
    amount,
  )

const count = (amount: number): string => new Intl.NumberFormat('en').format(amount)

/** How long it has been claimed, in seconds, the claim under way included; `now` in seconds since 1970. */
export function overallSeconds({ usage, state, state_since }: Card, now: number | null): number {
  const before = usage?.total.seconds ?? 0
  return state === 'claimed' && now !== null ? before + Math.max(0, now - Date.parse(state_since) / 1000) : before
}

/** What is limited or was used, in the order it is shown. */
export function limitsOf({ budget, usage }: Card, seconds: number): Limit[] {
  const { cost_usd = 0, tokens = 0 } = usage?.total ?? {}
  const all: Limit[] = [
    { key: 'max_cost_usd', name: 'Cost', used: cost_usd, of: budget?.max_cost_usd ?? null, text: money },
    { key: 'max_tokens', name: 'Tokens', used: tokens, of: budget?.max_tokens ?? null, text: count },
    { key: 'max_seconds', name: 'Time claimed', used: seconds, of: budget?.max_seconds ?? null, text: timeSpan },
  ]
  return all.filter(({ name, used, of }) => of !== null || (used > 0 && name !== 'Time claimed'))
}

/** The limits of its budget that an ended todo is over, which must be widened for it to go on. */
export const overLimits = (card: Card): Limit[] =>
  limitsOf(card, card.usage?.total.seconds ?? 0).filter(({ used, of }) => of !== null && used > of)
