import type { Effect } from '#lib/wire/effect'
import type { Todo } from '#lib/wire/todo'

/** How an effect stands, as people say it. */
export const STANDS = {
  underWay: { label: 'Under way', color: 'blue' },
  again: { label: 'May be repeated', color: 'gray' },
  doubt: { label: 'Did it happen?', color: 'yellow' },
  confirmed: { label: 'Done', color: 'green' },
  failed: { label: 'Not done', color: 'gray' },
} as const

/** Whether the worker that began an effect still has its todo, so that its word is to be expected. */
export const isUnderWay = (effect: Effect, todo: Todo): boolean =>
  todo.state === 'claimed' && todo.lease_epoch === effect.lease_epoch

/** How one effect of this todo stands. */
export function standOf(effect: Effect, todo: Todo): keyof typeof STANDS {
  if (effect.status !== 'begun') return effect.status
  if (isUnderWay(effect, todo)) return 'underWay'
  return effect.idempotent ? 'again' : 'doubt'
}

/** How many effects of a todo nobody knows the outcome of, and no worker will tell. */
export const doubtful = (effects: readonly Effect[], todo: Todo): number =>
  effects.filter((effect) => standOf(effect, todo) === 'doubt').length
