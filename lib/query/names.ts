import { queryOptions } from '@tanstack/react-query'
import { api } from './client'
import { KEYS } from './keys'

/** What people are called, by the actors that the log names them by (`user:…`). */
export const names = queryOptions({
  queryKey: KEYS.names,
  queryFn: async ({ signal }) => {
    const answer = await api.listNames({}, { signal })
    return new Map(answer.names.map(({ id, name }) => [`user:${id}`, name]))
  },
  // People come and go without an event.
  staleTime: 60_000,
  structuralSharing: false,
})
