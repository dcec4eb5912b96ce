import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { hear } from './cache'
import { api } from './client'
import { KEYS } from './keys'

const PAGE = 200

/** The open questions, soonest deadline first; kept right by the stream. */
export const openPrompts = infiniteQueryOptions({
  queryKey: KEYS.openPrompts,
  initialPageParam: null as string | null,
  queryFn: async ({ client, signal, pageParam: cursor }) => {
    const answer = await api.listInterrupts({ limit: PAGE, ...(cursor ? { cursor } : {}) }, { signal })
    hear(
      client,
      answer.interrupts.map(({ todo }) => todo),
    )
    return answer
  },
  getNextPageParam: ({ next_cursor }) => next_cursor,
  structuralSharing: false,
})

/** One question, open or not. */
export function promptOf(id: string) {
  return queryOptions({
    queryKey: KEYS.prompt(id),
    queryFn: async ({ client, signal }) => {
      const answer = await api.getInterrupt({ id }, { signal })
      hear(client, [answer.interrupt.todo])
      return answer
    },
  })
}
