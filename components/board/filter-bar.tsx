'use client'

import { CloseButton, NativeSelect, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { memo } from 'react'
import { queues } from '#lib/query/todos'
import styles from './board.module.css'
import type { FilterFields } from './use-filter'

const MOST = 200

interface FilterBarProps {
  fields: FilterFields
  set(fields: Partial<FilterFields>): void
}

/** Which todos the board shows: of a queue, and with a text in them. */
export const FilterBar = memo(function FilterBar({ fields, set }: FilterBarProps) {
  const { data } = useQuery(queues)
  const names = data?.map(({ name }) => name) ?? []
  const chosen = fields.queue !== null && !names.includes(fields.queue) ? [fields.queue] : []
  return (
    <search className={styles.filters}>
      <NativeSelect
        aria-label="Queue"
        size="xs"
        value={fields.queue ?? ''}
        onChange={({ currentTarget }) => set({ queue: currentTarget.value || null })}
        data={[{ value: '', label: 'All queues' }, ...chosen, ...names]}
      />
      <TextInput
        aria-label="Search"
        placeholder="Title, id, kind, error"
        size="xs"
        maxLength={MOST}
        className={styles.search}
        value={fields.q ?? ''}
        onChange={({ currentTarget }) => set({ q: currentTarget.value || null })}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
        leftSection={<IconSearch size={14} aria-hidden />}
        rightSection={
          fields.q && <CloseButton size="xs" aria-label="Clear the search" onClick={() => set({ q: null })} />
        }
        data-search
      />
    </search>
  )
})
