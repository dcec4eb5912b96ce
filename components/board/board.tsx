'use client'

import { useInfiniteQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { parseAsString, useQueryState } from 'nuqs'
import { useCallback, useMemo, useState } from 'react'
import { openPrompts } from '#lib/query/interrupts'
import type { Card } from '#lib/wire/todo'
import { useNarrow } from '../shell/use-narrow'
import { Acts } from '../todo/acts'
import { Announcer } from './announcer'
import styles from './board.module.css'
import { BoardColumns } from './board-columns'
import { type BoardContext, BoardProvider } from './board-context'
import { FilterBar } from './filter-bar'
import { useHasSelection } from './reading'
import { useBoardKeys } from './use-board-keys'
import { useFilter } from './use-filter'

const BoardTabs = dynamic(() => import('./board-tabs'), { ssr: false })
const CardMenu = dynamic(() => import('./card-menu'), { ssr: false })
const TodoDrawer = dynamic(() => import('../todo/todo-drawer'), { ssr: false })

/** All todos by their state, live. */
export function Board() {
  const { fields, filter, set } = useFilter()
  const [openId, setOpenId] = useQueryState('todo', parseAsString.withOptions({ history: 'push', scroll: false }))
  const [menu, setMenu] = useState<{ card: Card; button: HTMLElement } | null>(null)
  const isHeld = useHasSelection() || menu !== null
  const prompts = usePrompts()
  const isNarrow = useNarrow()
  const [wasOpened, setWasOpened] = useState(openId !== null)
  if (openId !== null && !wasOpened) setWasOpened(true)
  useBoardKeys()

  const open = useCallback((id: string) => void setOpenId(id), [setOpenId])
  const openMenu = useCallback((card: Card, button: HTMLElement) => setMenu({ card, button }), [])
  const board = useMemo<BoardContext>(
    () => ({ filter, isHeld, prompts, open, openMenu }),
    [filter, isHeld, prompts, open, openMenu],
  )

  return (
    <BoardProvider value={board}>
      <div className={styles.board}>
        <header className={styles.bar}>
          <h1 className={styles.title}>Board</h1>
          <FilterBar fields={fields} set={set} />
        </header>
        {isNarrow === null && <div className={styles.columns} aria-busy />}
        {isNarrow === true && <BoardTabs />}
        {isNarrow === false && <BoardColumns />}
        <Announcer />
      </div>
      {menu && <CardMenu {...menu} onClose={() => setMenu(null)} />}
      {wasOpened && <TodoDrawer id={openId} onClose={() => void setOpenId(null, { history: 'replace' })} />}
      <Acts />
    </BoardProvider>
  )
}

function usePrompts(): BoardContext['prompts'] {
  const { data } = useInfiniteQuery(openPrompts)
  return useMemo(
    () =>
      new Map(data?.pages.flatMap(({ interrupts }) => interrupts.map((prompt) => [prompt.todo_id, prompt] as const))),
    [data],
  )
}
