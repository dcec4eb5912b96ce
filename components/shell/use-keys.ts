import { useEffect, useRef } from 'react'

/** What each key does: `j`, `/`, `Enter`, or two in a row, as `g b`. */
export type Keys = Record<string, (event: KeyboardEvent) => void>

const PREFIX_MS = 1500
const FIELDS = 'input, textarea, select, [contenteditable=""], [contenteditable="true"]'
const PRESSABLE = 'a, button, summary, [role="menuitem"], [role="tab"], [role="button"]'

/** Keys for all of the page, as long as the component is there. None fires in a field, while text is composed, or behind a dialog. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys)
  useEffect(() => {
    current.current = keys
  })
  useEffect(() => {
    let prefix = ''
    let prefixAt = 0
    function pressed(event: KeyboardEvent): void {
      if (isTheirs(event)) return
      const before = event.timeStamp - prefixAt < PREFIX_MS ? `${prefix} ` : ''
      const act = current.current[`${before}${event.key}`] ?? current.current[event.key]
      prefix = event.key
      prefixAt = event.timeStamp
      if (!act) return
      event.preventDefault()
      act(event)
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])
}

function isTheirs(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement
  return (
    event.defaultPrevented ||
    event.isComposing ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    target.closest(FIELDS) !== null ||
    (event.key === 'Enter' && target.closest(PRESSABLE) !== null) ||
    document.querySelector('[role="dialog"][aria-modal="true"], [role="menu"]') !== null
  )
}
