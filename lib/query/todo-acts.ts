import { mutationOptions, type QueryClient } from '@tanstack/react-query'
import type { Todo } from '#lib/wire/todo'
import { cardOf, hear } from './cache'
import { api } from './client'
import { KEYS } from './keys'

/** Which todo, and why, if somebody said so. */
export interface Act {
  id: string
  reason?: string
}

// The stream tells the same a moment later; while it is lost this is all there is.
function acted(client: QueryClient, todo: Todo): void {
  hear(client, [cardOf(todo)])
  void client.invalidateQueries({ queryKey: KEYS.todo(todo.id) })
  void client.invalidateQueries({ queryKey: KEYS.allCounts })
}

const act = (name: 'cancel' | 'reject' | 'requeue') =>
  mutationOptions({
    mutationKey: ['todo', name],
    mutationFn: (given: Act) => api[name](given),
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
