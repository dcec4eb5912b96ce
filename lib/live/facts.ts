import { READY_REASONS, type ReadyReason } from '#lib/model/transitions'
import type { Event } from '#lib/wire/event'
import type { Card } from '#lib/wire/todo'
import type { HookName, Hooks } from './hooks'

/** What a hook is told, with the hook's name. */
export type Fact = { [Name in HookName]: { name: Name; fact: Hooks[Name] } }[HookName]

/** What an event of the log means, in the order it is told; `card` is its todo as it is now, null when it has been deleted. */
export function factsOf(event: Event, card: Card | null): Fact[] {
  if (event.verb === 'setting' || event.verb === 'bulk') return [{ name: event.verb, fact: event }]
  const { id, verb, from_state: from, to_state: to, reason, actor, attempt_seq, lease_epoch, at } = event
  const transition = { event_id: id, todo: card, verb, from, to, reason, actor, attempt_seq, lease_epoch, at }
  const becameReady = to === 'pending' && (READY_REASONS as Partial<Record<string, ReadyReason>>)[verb]
  if (!card || !becameReady) return [{ name: 'transition', fact: transition }]
  const { id: todo_id, queue, available_at } = card
  return [
    { name: 'transition', fact: transition },
    { name: 'ready', fact: { todo_id, queue, reason: becameReady, available_at } },
  ]
}
