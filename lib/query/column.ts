import type { InfiniteData } from '@tanstack/react-query'
import type { Card } from '#lib/wire/todo'
import type { Leased } from './frame'
import { isNewer, withLease } from './known'

/** Where a page of a list begins: the server's cursor, and the id that all on the page are below. */
export interface PageStart {
  cursor: string
  below: string
}

/** A page of todos, newest first. It covers all ids below its start, down to its floor. */
export interface TodoPage {
  todos: Card[]
  /** The lowest id it covers; null when nothing comes after it. */
  floor: string | null
  next: PageStart | null
}

/** A list of todos as far as it has been fetched. */
export type TodoList = InfiniteData<TodoPage, PageStart | null>

/** Which todos belong to a list. */
export type Belongs = (card: Card) => boolean

/** The page in an answer of the API. */
export function pageOf({ todos, next_cursor }: { todos: Card[]; next_cursor: string | null }): TodoPage {
  const last = todos.at(-1)
  if (next_cursor === null || !last) return { todos, floor: null, next: null }
  return { todos, floor: last.id, next: { cursor: next_cursor, below: last.id } }
}

/** The list after these cards changed; the very same list when nothing in it did. */
export function applyCards(list: TodoList, cards: readonly Card[], belongs: Belongs): TodoList {
  const changed = new Map(cards.map((card) => [card.id, card]))
  return mapPages(list, (page, start) => {
    const arriving = new Map([...changed].filter(([, card]) => belongs(card) && covers(page, start, card)))
    const kept = mapSome(page.todos, (card) => {
      arriving.delete(card.id)
      const now = changed.get(card.id)
      if (!now || !isNewer(now, card)) return card
      return belongs(now) ? now : null
    })
    return arriving.size === 0 ? kept : [...kept, ...arriving.values()].sort(newestFirst)
  })
}

/** The list after these heartbeats; the very same list when they change nothing in it. */
export function applyLeases(list: TodoList, leases: ReadonlyMap<string, Leased>): TodoList {
  return mapPages(list, ({ todos }) =>
    mapSome(todos, (card) => {
      const lease = leases.get(card.id)
      return lease ? withLease(card, lease) : card
    }),
  )
}

function mapPages(list: TodoList, todosOf: (page: TodoPage, start: PageStart | null) => Card[]): TodoList {
  const pages = mapSome(list.pages, (page, index) => {
    const todos = todosOf(page, list.pageParams[index] ?? null)
    return todos === page.todos ? page : { ...page, todos }
  })
  return pages === list.pages ? list : { ...list, pages }
}

/**
 * A fetched list with the very cards of the list before wherever they are the same, so that what shows them need not look
 * again. (TanStack's own way compares every field of every card at each frame: 7 ms for 300 cards.)
 */
export function shared(before: unknown, after: unknown): unknown {
  const cards = new Map(
    (before as TodoList | undefined)?.pages.flatMap(({ todos }) => todos.map((card) => [card.id, card])),
  )
  return mapPages(after as TodoList, ({ todos }) =>
    mapSome(todos, (card) => {
      const old = cards.get(card.id)
      return old && !isNewer(card, old) && !isNewer(old, card) ? old : card
    }),
  )
}

/** Like map, leaving out what becomes null; the very same array when nothing changed. */
export function mapSome<One>(all: One[], change: (one: One, index: number) => One | null): One[] {
  let isSame = true
  const changed = all.flatMap((one, index) => {
    const now = change(one, index)
    if (now !== one) isSame = false
    return now === null ? [] : [now]
  })
  return isSame ? all : changed
}

const covers = ({ floor }: TodoPage, start: PageStart | null, { id }: Card): boolean =>
  (start === null || id < start.below) && (floor === null || id >= floor)

const newestFirst = (a: Card, b: Card): number => (a.id < b.id ? 1 : -1)
