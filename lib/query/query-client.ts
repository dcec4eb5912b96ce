import { notifyManager, QueryCache, QueryClient } from '@tanstack/react-query'
import { Refusal } from '#lib/model/errors'
import { reconcile } from './cache'
import { memoryOf } from './memory'
import { streamStatus } from './stream-status'

const KEPT_MS = 10 * 60_000

// Its own way is a timer, which browsers put off by 4 ms and more.
notifyManager.setScheduler(queueMicrotask)

/**
 * A cache for a page. The stream keeps it right, so nothing in it gets stale by itself; the client repeats what fails in
 * passing.
 */
export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onSuccess: (_data, { queryKey }) => reconcile(client, queryKey),
      onError: (error) => {
        if (error instanceof Refusal && error.code === 'unauthenticated') streamStatus.set({ kind: 'signed-out' })
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: KEPT_MS,
        retry: false,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: 'always',
      },
      mutations: { networkMode: 'always' },
    },
  })
  // Before the answer is asked for, and before a list's earlier pages are set aside to be cached with the next one.
  client.getQueryCache().subscribe((event) => {
    if (event.type === 'updated' && event.action.type === 'fetch') memoryOf(client).asked(event.query.queryKey)
  })
  return client
}
