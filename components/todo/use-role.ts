import { useQuery } from '@tanstack/react-query'
import { me } from '#lib/query/me'
import type { Role } from '#lib/wire/caller'

/** What the person who looks at the page may do; null until it is known. */
export function useRole(): Role | null {
  const { data } = useQuery(me)
  return data?.role ?? null
}
