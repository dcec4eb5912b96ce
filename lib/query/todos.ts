import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { State } from '#lib/model/states'
import { cardOf, hear } from './cache'
import { api } from './client'
import { type PageStart, pageOf, shared, sortOf } from './column'
import type { Tally } from './counts'
import type { Filter } from './filter'
import { KEYS } from './keys'

const PAGE = 50

/** The todos in these states a page at a time, newest first or by their end if all have ended; kept right by the stream. */
export function todosOf(states: readonly State[], filter: Filter) {
  const sort = sortOf(states)
  return infiniteQueryOptions({
    queryKey: KEYS.list(states, filter),
    initialPageParam: null as PageStart | null,
    queryFn: async ({ client, signal, pageParam: start }) => {
      const cursor = start ? { cursor: start.cursor } : {}
      const answer = await api.listTodos({ state: [...states], ...filter, sort, ...cursor, limit: PAGE }, { signal })
      hear(client, answer.todos, answer.causes)
      return pageOf(answer, sort)
    },
    getNextPageParam: ({ next }) => next,
    structuralSharing: shared,
  })
}

/** How many todos there are in each state, and since when the oldest. */
export function countsOf(filter: Filter) {
  return queryOptions<Tally>({
    queryKey: KEYS.counts(filter),
    queryFn: async ({ signal }) => {
      const { counts, oldest } = await api.listTodos({ ...filter, limit: 1 }, { signal })
      return { counts, oldest }
    },
  })
}

/** One todo with its attempts, questions, effects and children. */
export function todoDetail(id: string) {
  return queryOptions({
    queryKey: KEYS.detail(id),
    queryFn: async ({ client, signal }) => {
      const detail = await api.getTodo({ id }, { signal })
      hear(client, [cardOf(detail.todo)])
      return detail
    },
  })
}

/** What happened to a todo, oldest first. */
export function eventsOf(id: string) {
  return infiniteQueryOptions({
    queryKey: KEYS.events(id),
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam: cursor }) =>
      api.listEvents({ id, limit: 200, ...(cursor ? { cursor } : {}) }, { signal }),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
}

/** The queues there are. */
export const queues = queryOptions({
  queryKey: KEYS.queues,
  queryFn: async ({ signal }) => (await api.listQueues({}, { signal })).queues,
})
