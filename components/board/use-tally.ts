import { useQuery } from '@tanstack/react-query'
import type { State } from '#lib/model/states'
import type { Counts } from '#lib/query/counts'
import { countsOf } from '#lib/query/todos'
import { useBoard } from './board-context'

/** How many todos the board's filter lets through, by state; null until it is known. */
export const useCounts = (): Counts | null => useTally()?.counts ?? null

/** Since when the oldest todo in this state that the filter lets through has been there; null when none is, or none lives. */
export const useOldest = (state: State): string | null => useTally()?.oldest[state] ?? null

function useTally() {
  const { filter } = useBoard()
  return useQuery(countsOf(filter)).data
}
