import { useQuery } from '@tanstack/react-query'
import type { Counts } from '#lib/query/counts'
import { countsOf } from '#lib/query/todos'
import { useBoard } from './board-context'

/** How many todos the board's filter lets through, by state; null until it is known. */
export function useCounts(): Counts | null {
  const { filter } = useBoard()
  return useQuery(countsOf(filter)).data ?? null
}
