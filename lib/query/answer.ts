import { mutationOptions } from '@tanstack/react-query'
import { cardOf, hear } from './cache'
import { api } from './client'
import { KEYS } from './keys'
import type { Prompt } from './prompts'

/** An answer to one question. */
export interface Reply {
  action: 'accept' | 'decline'
  content?: Parameters<typeof api.answerInterrupt>[0]['content']
  comment?: string
}

/** Answers a question, by its id; the first answer wins. A question that somebody else closed is fetched anew, for its true outcome. */
export const answerPrompt = mutationOptions({
  mutationKey: ['interrupt', 'answer'],
  mutationFn: (given: Reply & { id: string }) => api.answerInterrupt(given),
  onSuccess: ({ interrupt, todo }, _given, _result, { client }) => {
    hear(client, [cardOf(todo)])
    client.setQueryData<{ interrupt: Prompt }>(KEYS.prompt(interrupt.id), (before) =>
      before ? { interrupt: { ...before.interrupt, ...interrupt } } : before,
    )
    void client.invalidateQueries({ queryKey: KEYS.todo(todo.id) })
    void client.invalidateQueries({ queryKey: KEYS.allCounts })
  },
  onError: (_error, { id }, _result, { client }) => {
    void client.invalidateQueries({ queryKey: KEYS.prompt(id) })
    void client.invalidateQueries({ queryKey: KEYS.openPrompts })
  },
})
