import { createContext, useContext } from 'react'
import type { Filter } from '#lib/query/filter'
import type { Prompt } from '#lib/query/prompts'
import type { Card } from '#lib/wire/todo'
import type { BoardColumn } from './columns'

/** What all parts of a board share. */
export interface BoardContext {
  filter: Filter
  /** Whether lists must hold still, since a menu is open or text is selected. */
  isHeld: boolean
  /** The open question of each todo, as far as they are known; the soonest to expire always are. */
  prompts: ReadonlyMap<string, Prompt>
  open(id: string): void
  openMenu(card: Card, button: HTMLElement): void
  openColumnMenu(column: BoardColumn, button: HTMLElement): void
}

const Context = createContext<BoardContext | null>(null)

export const BoardProvider = Context.Provider

/** The board this is a part of. */
export function useBoard(): BoardContext {
  const board = useContext(Context)
  if (!board) throw new Error('A part of the board stands outside of it')
  return board
}
