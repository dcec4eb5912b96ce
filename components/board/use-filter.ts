import { useDebouncedValue } from '@mantine/hooks'
import { debounce, parseAsString, useQueryStates } from 'nuqs'
import { useCallback, useMemo } from 'react'
import type { Filter } from '#lib/query/filter'

const SEARCH_MS = 250

const PARSERS = {
  queue: parseAsString,
  q: parseAsString.withOptions({ limitUrlUpdates: debounce(SEARCH_MS) }),
}

/** What the filter's fields hold. */
export interface FilterFields {
  queue: string | null
  q: string | null
}

/** The board's filter, which lives in the URL; while one types, lists follow a little later than the field. */
export function useFilter(): { fields: FilterFields; filter: Filter; set(fields: Partial<FilterFields>): void } {
  const [fields, set] = useQueryStates(PARSERS, { history: 'replace', scroll: false })
  const [q] = useDebouncedValue(fields.q?.trim(), SEARCH_MS)
  const { queue } = fields
  const filter = useMemo<Filter>(() => ({ ...(queue ? { queue } : {}), ...(q ? { q } : {}) }), [queue, q])
  const change = useCallback((changed: Partial<FilterFields>) => void set(changed), [set])
  return { fields, filter, set: change }
}
