import { mutationOptions, type QueryClient } from '@tanstack/react-query'
import type { Budget, Todo } from '#lib/wire/todo'
import { cardOf, hear } from './cache'
import { api } from './client'
import { KEYS } from './keys'

/** Which todo, and why, if somebody said so; what would end it again at once is replaced when it is put back. */
export interface Act {
  id: string
  reason?: string
  deadline_at?: string
  budget?: Budget
}

// The stream tells the same a moment later; while it is lost this is all there is.
function acted(client: QueryClient, todo: Todo): void {
  hear(client, [cardOf(todo)])
  void client.invalidateQueries({ queryKey: KEYS.todo(todo.id) })
  void client.invalidateQueries({ queryKey: KEYS.allCounts })
  if (todo.open_interrupt_id) void client.invalidateQueries({ queryKey: KEYS.openPrompts })
}

const act = (name: 'cancel' | 'reject' | 'requeue' | 'park') =>
  mutationOptions({
    mutationKey: ['todo', name],
    mutationFn: (given: Act): Promise<{ todo: Todo }> => api[name](given),
    onSuccess: ({ todo }, _given, _result, { client }) => acted(client, todo),
    // Refused: it is no longer what the page shows.
    onError: (_error, { id }, _result, { client }) => client.invalidateQueries({ queryKey: KEYS.todo(id) }),
  })

/** Ends a live todo that is no longer wanted. */
export const cancelTodo = act('cancel')

/** Ends a pending todo that should not have been asked for. */
export const rejectTodo = act('reject')

/** Puts an ended todo back with a fresh allowance. */
export const requeueTodo = act('requeue')

/** Lets go of a held question for a worker that may be gone; it stays open. */
export const parkTodo = act('park')

function settled(client: QueryClient, id: string): void {
  void client.invalidateQueries({ queryKey: KEYS.todo(id) })
  void client.invalidateQueries({ queryKey: KEYS.openPrompts })
}

/** What a person found out about an effect that was in doubt. */
export interface Finding {
  id: string
  key: string
  status: 'happened' | 'did_not_happen'
  comment: string
}

/** Settles an effect; a question that asks just that is answered by it. */
export const settleEffect = mutationOptions({
  mutationKey: ['effect', 'settle'],
  mutationFn: (finding: Finding) => api.settleEffect(finding),
  onSuccess: (_answer, { id }, _result, { client }) => settled(client, id),
  onError: (_error, { id }, _result, { client }) => settled(client, id),
})
