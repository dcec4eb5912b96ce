import { useEffect, useRef } from 'react'

/** Gives the focus back to a todo's card when the todo, opened from it, is closed; wherever the card is by then. */
export function useFocusBack(openId: string | null): void {
  const before = useRef(openId)
  useEffect(() => {
    const closed = openId === null ? before.current : null
    before.current = openId
    if (closed === null) return
    // The drawer lets the focus go only after it has been told.
    const frame = requestAnimationFrame(() => {
      document.querySelector<HTMLElement>(`[data-card="${CSS.escape(closed)}"]`)?.focus({ preventScroll: true })
    })
    return () => cancelAnimationFrame(frame)
  }, [openId])
}
