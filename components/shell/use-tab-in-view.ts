import { type RefObject, useEffect, useRef } from 'react'

/** For a row of tabs too long for the screen: keeps the chosen one in view, also when the address chose it. */
export function useTabInView(chosen: string, isShown = true): RefObject<HTMLDivElement | null> {
  const row = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the choice is what moves the row.
  useEffect(() => {
    const list = row.current
    const tab = list?.querySelector<HTMLElement>('[aria-selected="true"]')
    if (!list || !tab) return
    list.scrollLeft += tab.getBoundingClientRect().left - list.getBoundingClientRect().left - MARGIN_PX
  }, [chosen, isShown])
  return row
}

const MARGIN_PX = 48
