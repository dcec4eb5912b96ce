import type { State } from '#lib/model/states'
import type { Cause } from '#lib/query/known'
import type { Card } from '#lib/wire/todo'

/** Why a todo was put back, by its event's reason; those of people and workers are their own words. */
const REASONS: Record<string, string> = {
  lease_expired: 'lease expired',
  interrupt_expired: 'nobody answered',
  wait_expired: 'nobody answered',
  endpoint_revoked: 'its worker was revoked',
}

/** Why a pending todo is back, in a few words; null when it has never been away. */
export function whyBack(card: Card, cause: Cause | null): string | null {
  if (card.state !== 'pending' || card.attempts === 0) return null
  return (cause && told(cause)) ?? counted(card)
}

function told({ verb, reason }: Cause): string | null {
  if (verb === 'requeued') return reason === null ? 'put back by hand' : (REASONS[reason] ?? 'put back by hand')
  if (verb === 'retry_scheduled') return 'failed, to be tried again'
  if (verb === 'released') return 'given back by its worker'
  if (verb === 'answered') return 'answered, to be gone on with'
  if (verb === 'continued') return reason === 'effect_settled' ? 'its effect is known now' : 'its children have ended'
  return null
}

// Without the event only the counters tell, and not which came last.
function counted({ failures, lease_expirations, wait_expirations }: Card): string {
  const lapses = lease_expirations + wait_expirations
  const parts = [
    failures > 0 && `failed ${failures === 1 ? 'once' : `${failures} times`}`,
    lapses > 0 && `taken back ${lapses === 1 ? 'once' : `${lapses} times`}`,
  ].filter((part) => part !== false)
  return parts.join(', ') || 'given back'
}

/** From which side a card comes in: where its column before stands. */
export function sideOf(from: State | null, to: State, order: readonly State[]): 'left' | 'right' | 'above' {
  if (from === null || from === to) return 'above'
  return order.indexOf(from) < order.indexOf(to) ? 'left' : 'right'
}
