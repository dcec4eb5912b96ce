'use client'

import { useInfiniteQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { parseAsString, useQueryState } from 'nuqs'
import { useCallback, useMemo, useState } from 'react'
import { STATE_NAMES } from '#lib/model/states'
import { sum } from '#lib/query/counts'
import { openPrompts } from '#lib/query/interrupts'
import type { Card } from '#lib/wire/todo'
import { useNarrow } from '../shell/use-narrow'
import { Acts } from '../todo/acts'
import { Announcer } from './announcer'
import styles from './board.module.css'
import { BoardColumns } from './board-columns'
import { type BoardContext, BoardProvider, useBoard } from './board-context'
import type { BoardColumn } from './columns'
import { FilterBar } from './filter-bar'
import { useHasSelection } from './reading'
import { useBoardKeys } from './use-board-keys'
import { useFilter } from './use-filter'
import { useFocusBack } from './use-focus-back'
import { useCounts } from './use-tally'

const FirstTodo = dynamic(() => import('./first-todo'))
const BoardTabs = dynamic(() => import('./board-tabs'), { ssr: false })
const CardMenu = dynamic(() => import('./card-menu'), { ssr: false })
const ColumnMenu = dynamic(() => import('../bulk/column-menu'), { ssr: false })
const TodoDrawer = dynamic(() => import('../todo/todo-drawer'), { ssr: false })

/** All todos by their state, live. */
export function Board() {
  const { fields, filter, set } = useFilter()
  const [openId, setOpenId] = useQueryState('todo', parseAsString.withOptions({ history: 'push', scroll: false }))
  const [menu, setMenu] = useState<{ card: Card; button: HTMLElement } | null>(null)
  const [columnMenu, setColumnMenu] = useState<{ column: BoardColumn; button: HTMLElement } | null>(null)
  const isHeld = useHasSelection() || menu !== null
  const prompts = usePrompts()
  const [wasOpened, setWasOpened] = useState(openId !== null)
  if (openId !== null && !wasOpened) setWasOpened(true)
  useBoardKeys()
  useFocusBack(openId)

  const open = useCallback((id: string) => void setOpenId(id), [setOpenId])
  const openMenu = useCallback((card: Card, button: HTMLElement) => setMenu({ card, button }), [])
  const openColumnMenu = useCallback(
    (column: BoardColumn, button: HTMLElement) => setColumnMenu({ column, button }),
    [],
  )
  const board = useMemo<BoardContext>(
    () => ({ filter, isHeld, prompts, open, openMenu, openColumnMenu }),
    [filter, isHeld, prompts, open, openMenu, openColumnMenu],
  )

  return (
    <BoardProvider value={board}>
      <div className={styles.board}>
        <header className={styles.bar}>
          <h1 className={styles.title}>Board</h1>
          <FilterBar fields={fields} set={set} />
        </header>
        <Columns />
        <Announcer />
      </div>
      {menu && <CardMenu {...menu} onClose={() => setMenu(null)} />}
      {columnMenu && <ColumnMenu {...columnMenu} onClose={() => setColumnMenu(null)} />}
      {wasOpened && <TodoDrawer id={openId} onClose={() => void setOpenId(null, { history: 'replace' })} />}
      <Acts />
    </BoardProvider>
  )
}

/** The columns as the screen has room for them; before the very first todo, how to make it. */
function Columns() {
  const isNarrow = useNarrow()
  const counts = useCounts()
  const { filter } = useBoard()
  const isUnfiltered = filter.queue === undefined && filter.q === undefined
  if (isNarrow === null) return <div className={styles.columns} aria-busy />
  if (isUnfiltered && counts && sum(counts, STATE_NAMES).count === 0) return <FirstTodo />
  return isNarrow ? <BoardTabs /> : <BoardColumns />
}

function usePrompts(): BoardContext['prompts'] {
  const { data } = useInfiniteQuery(openPrompts)
  return useMemo(
    () =>
      new Map(data?.pages.flatMap(({ interrupts }) => interrupts.map((prompt) => [prompt.todo_id, prompt] as const))),
    [data],
  )
}
