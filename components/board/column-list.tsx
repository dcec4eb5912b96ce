'use client'

import { useQueryClient } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { memoryOf } from '#lib/query/memory'
import type { Card as Todo } from '#lib/wire/todo'
import { useBoard } from './board-context'
import { Card } from './card'
import styles from './column.module.css'
import { type Row, useHeld } from './use-held'

const CARD_PX = 88
const GAP_PX = 6
const AHEAD = 8
const SETTLING_MS = 260
const READING_PX = 8

interface ColumnList {
  cards: readonly Todo[]
  pages: number
  label: string
  hasMore: boolean
  more(): void
}

/** A column's todos: only what is in view is drawn, more is loaded as one scrolls, and nothing moves that somebody reads. */
export function ColumnList({ cards, pages, label, hasMore, more }: ColumnList) {
  const { isHeld } = useBoard()
  const scroller = useRef<HTMLDivElement>(null)
  const [isScrolled, setScrolled] = useState(false)
  const { rows, arrivals } = useHeld(cards, isHeld || isScrolled, pages)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD_PX,
    getItemKey: (index) => rows[index]?.card.id ?? index,
    gap: GAP_PX,
    overscan: AHEAD,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  useEffect(() => {
    if (hasMore && last >= rows.length - 1 - AHEAD) more()
  }, [hasMore, last, rows.length, more])
  const list = useSettling(rows)
  useKeptFocus(rows, list)

  return (
    <div className={styles.listing}>
      {arrivals > 0 && (
        <button
          type="button"
          className={styles.pill}
          onClick={() => {
            virtual.scrollToOffset(0)
            setScrolled(false)
          }}
        >
          {arrivals} new
        </button>
      )}
      <div
        ref={scroller}
        className={styles.scroller}
        onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop > READING_PX)}
      >
        <ol ref={list} className={styles.list} aria-label={label} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ key, index, start }) => {
            const row = rows[index]
            return (
              row && (
                <li
                  key={key}
                  ref={virtual.measureElement}
                  data-index={index}
                  className={styles.item}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <ListedCard row={row} />
                </li>
              )
            )
          })}
        </ol>
      </div>
    </div>
  )
}

function ListedCard({ row: { card, isGone } }: { row: Row }) {
  const { known } = memoryOf(useQueryClient())
  return <Card card={card} isGone={isGone} cause={known.get(card.id)?.cause ?? null} />
}

/**
 * Lets the cards slide to their new places when the list changes, and only then: not while it is being scrolled, and not
 * when the next change comes before they are there. At twenty changes a second the sliding alone took half of the time.
 */
function useSettling(rows: readonly Row[]) {
  const list = useRef<HTMLOListElement>(null)
  const order = rows.map(({ card }) => card.id).join()
  const before = useRef({ order, at: Number.NEGATIVE_INFINITY })
  useLayoutEffect(() => {
    if (before.current.order === order || !list.current) return
    const isCalm = performance.now() - before.current.at > SETTLING_MS
    before.current = { order, at: performance.now() }
    const { dataset } = list.current
    if (!isCalm) {
      delete dataset.settling
      return
    }
    dataset.settling = ''
    const timer = setTimeout(() => {
      delete dataset.settling
    }, SETTLING_MS)
    return () => clearTimeout(timer)
  }, [order])
  return list
}

/** When the card that has the focus leaves, the one that takes its place gets it. */
function useKeptFocus(rows: readonly Row[], list: { current: HTMLOListElement | null }): void {
  const focused = useRef<{ id: string; index: number } | null>(null)
  useEffect(() => {
    const element = list.current
    if (!element) return
    const note = ({ target }: FocusEvent) => {
      const item = (target as HTMLElement).closest('[data-index]')
      const id = item?.querySelector<HTMLElement>('[data-card]')?.dataset.card
      focused.current = id ? { id, index: Number(item?.getAttribute('data-index')) } : null
    }
    const forget = ({ relatedTarget }: FocusEvent) => {
      if (relatedTarget) focused.current = null
    }
    element.addEventListener('focusin', note)
    element.addEventListener('focusout', forget)
    return () => {
      element.removeEventListener('focusin', note)
      element.removeEventListener('focusout', forget)
    }
  }, [list])
  useLayoutEffect(() => {
    const lost = focused.current
    if (!lost || document.activeElement !== document.body || rows.some(({ card }) => card.id === lost.id)) return
    const next = rows[Math.min(lost.index, rows.length - 1)]
    list.current?.querySelector<HTMLElement>(`[data-card="${next?.card.id}"]`)?.focus({ preventScroll: true })
  }, [rows, list])
}
