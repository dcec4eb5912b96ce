import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { memoryOf } from '#lib/query/memory'
import type { Card } from '#lib/wire/todo'

/** A row of a list: its todo, and whether that has left the list and stays only until nobody is reading. */
export interface Row {
  card: Card
  isGone: boolean
}

/**
 * A list that holds still while somebody reads it: what arrives is counted instead of shown, what leaves stays in its
 * place as it is now, and what is loaded further down is added.
 */
export function useHeld(cards: readonly Card[], isHeld: boolean, pages: number): { rows: Row[]; arrivals: number } {
  const { known } = memoryOf(useQueryClient())
  const [held, setHeld] = useState<{ ids: string[]; pages: number } | null>(null)
  if (!isHeld && held !== null) setHeld(null)
  if (isHeld && held === null) setHeld({ ids: cards.map(({ id }) => id), pages })
  if (isHeld && held !== null && held.pages !== pages) {
    const last = held.ids.at(-1) ?? ''
    setHeld({ ids: [...held.ids, ...cards.filter(({ id }) => last === '' || id < last).map(({ id }) => id)], pages })
  }
  if (!isHeld || held === null) return { rows: cards.map((card) => ({ card, isGone: false })), arrivals: 0 }

  const here = new Map(cards.map((card) => [card.id, card]))
  const rows = held.ids.flatMap((id) => {
    const card = here.get(id)
    if (card) return [{ card, isGone: false }]
    const latest = known.get(id)?.card
    return latest ? [{ card: latest, isGone: true }] : []
  })
  return { rows, arrivals: cards.length - rows.filter(({ isGone }) => !isGone).length }
}
