'use client'

import { IconDots, IconLayoutSidebarLeftCollapse } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { memo, useCallback, useMemo } from 'react'
import { STATES, type State } from '#lib/model/states'
import { CALLS } from '#lib/query/client'
import type { Counted } from '#lib/query/counts'
import { todosOf } from '#lib/query/todos'
import { useNow } from '#lib/query/use-now'
import type { Card as Todo } from '#lib/wire/todo'
import { possibleBulks } from '../bulk/bulk-words'
import { LinkButton } from '../shell/link-button'
import { roughly, timeSpan } from '../shell/time-span'
import { mayAs } from '../todo/acts-table'
import { useRole } from '../todo/use-role'
import { useBoard } from './board-context'
import { chooseColumn } from './collapsed'
import styles from './column.module.css'
import { ColumnList } from './column-list'
import { countText, EMPTY } from './column-words'
import type { BoardColumn } from './columns'
import { Lamp } from './lamp'
import { toneOf } from './tone'
import { useOldest } from './use-tally'

interface ColumnProps {
  column: BoardColumn
  counted: Counted | null
  isCollapsible?: boolean
}

/** One column of the board. */
export const Column = memo(function Column({ column, counted, isCollapsible }: ColumnProps) {
  const { filter } = useBoard()
  const { data, isPending, isError, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    todosOf(column.states, filter),
  )
  const cards = useMemo(() => data?.pages.flatMap(({ todos }) => todos) ?? [], [data])
  const more = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage({ cancelRefetch: false })
  }, [fetchNextPage, isFetchingNextPage])
  const { label, kind } = STATES[column.state]

  return (
    <section
      className={styles.column}
      style={toneOf(column.state)}
      data-column={column.state}
      data-lit={(kind === 'interrupt' && cards.length > 0) || undefined}
      aria-label={label}
    >
      <header className={styles.header}>
        <Lamp state={column.state} size={15} />
        <h2 className={styles.label}>{label}</h2>
        <span className={styles.count}>{countText(counted, data && !hasNextPage ? cards.length : null)}</span>
        {column.hasAge && <Oldest state={column.state} cards={cards} isWhole={!hasNextPage} />}
        <span className={styles.tools}>
          {cards.length > 0 && <More column={column} />}
          {isCollapsible && <Collapse state={column.state} />}
        </span>
      </header>
      {isPending && <Loading />}
      {isError && !data && <Failure retry={() => void refetch()} />}
      {data && cards.length === 0 && <Empty state={column.state} />}
      {data && <ColumnList cards={cards} pages={data.pages.length} label={label} hasMore={hasNextPage} more={more} />}
    </section>
  )
}, isSameColumn)

// The counts come anew with every event, most of them as they were.
function isSameColumn(before: ColumnProps, after: ColumnProps): boolean {
  const [was, is] = [before.counted, after.counted]
  return before.column === after.column && was?.count === is?.count && was?.capped === is?.capped
}

/** Opens what can be done to all of the column's todos, for those who may. */
function More({ column }: { column: BoardColumn }) {
  const { openColumnMenu } = useBoard()
  const role = useRole()
  if (!mayAs(role, CALLS.orderBulk.role) || possibleBulks(column.states).length === 0) return null
  return (
    <button
      type="button"
      className={styles.tool}
      aria-label={`Actions for all in ${STATES[column.state].label}`}
      aria-haspopup="menu"
      onClick={({ currentTarget }) => openColumnMenu(column, currentTarget)}
    >
      <IconDots size={16} aria-hidden />
    </button>
  )
}

function Collapse({ state }: { state: State }) {
  return (
    <button
      type="button"
      className={styles.tool}
      aria-label={`Collapse ${STATES[state].label}`}
      onClick={() => chooseColumn(state, 'collapsed')}
    >
      <IconLayoutSidebarLeftCollapse size={15} aria-hidden />
    </button>
  )
}

function Failure({ retry }: { retry: () => void }) {
  return (
    <p className={styles.note}>
      This column could not be loaded. <LinkButton onClick={retry}>Try again</LinkButton>
    </p>
  )
}

/** How long the oldest has been there; where only those loaded tell, and not all are, at least so long. */
function Oldest({ state, cards, isWhole }: { state: State; cards: readonly Todo[]; isWhole: boolean }) {
  const now = useNow()
  const counted = useOldest(state)
  const listed = useMemo(() => cards.map(({ state_since }) => state_since).sort()[0], [cards])
  const since = isWhole ? listed : (counted ?? listed)
  if (since === undefined || now === null) return null
  const isExact = isWhole || counted !== null
  const seconds = now - Math.floor(Date.parse(since) / 1000)
  const [age, short] = [timeSpan(seconds), roughly(seconds)]
  return (
    <span className={styles.oldest} title={`The oldest has been here ${isExact ? '' : 'at least '}${age}`}>
      {isExact ? short : `${short}+`}
    </span>
  )
}

function Empty({ state }: { state: State }) {
  const { filter } = useBoard()
  const isFiltered = filter.q !== undefined || filter.queue !== undefined
  return <p className={styles.note}>{isFiltered ? 'None that the filter lets through.' : EMPTY[state]}</p>
}

function Loading() {
  return (
    <div className={styles.loading} aria-hidden>
      {[0, 1, 2].map((one) => (
        <span key={one} className={styles.blank} />
      ))}
    </div>
  )
}
