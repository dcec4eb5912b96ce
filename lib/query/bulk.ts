import { infiniteQueryOptions, mutationOptions, queryOptions } from '@tanstack/react-query'
import type { BulkOutcome, BulkRun, NewBulk } from '#lib/wire/bulk'
import { api } from './client'
import { KEYS } from './keys'

const LOOK_MS = 2000

/** Bulk runs, newest first; the stream tells when one goes on. */
export const bulks = infiniteQueryOptions({
  queryKey: KEYS.bulkList,
  initialPageParam: null as string | null,
  queryFn: ({ signal, pageParam: cursor }) => api.listBulks(cursor ? { cursor } : {}, { signal }),
  getNextPageParam: ({ next_cursor }) => next_cursor,
})

/** How far a run has come; looked at besides while it runs, should the stream be lost. */
export function bulkOf(id: string) {
  return queryOptions({
    queryKey: KEYS.bulk(id),
    queryFn: async ({ signal }) => (await api.getBulk({ id }, { signal })).bulk,
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? LOOK_MS : false),
  })
}

/** What became of a run's todos, a page at a time. */
export function bulkResultsOf(id: string, outcome: BulkOutcome) {
  return infiniteQueryOptions({
    queryKey: KEYS.bulkResults(id, outcome),
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam: cursor }) =>
      api.listBulkResults({ id, outcome, limit: 100, ...(cursor ? { cursor } : {}) }, { signal }),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
}

/** Orders one thing for many todos. */
export const orderBulk = mutationOptions({
  mutationKey: ['bulk', 'order'],
  mutationFn: (order: NewBulk) => api.orderBulk(order),
  onSuccess: (_answer, _given, _result, { client }) => client.invalidateQueries({ queryKey: KEYS.bulkList }),
})

/** Stops a run before its next batch. */
export const stopBulk = mutationOptions({
  mutationKey: ['bulk', 'stop'],
  mutationFn: async (id: string) => (await api.cancelBulk({ id })).bulk,
  onSuccess: (bulk: BulkRun, _given, _result, { client }) => client.setQueryData<BulkRun>(KEYS.bulk(bulk.id), bulk),
  onError: (_error, id, _result, { client }) => client.invalidateQueries({ queryKey: KEYS.bulk(id) }),
})
