import { usePathname } from 'next/navigation'
import { useCallback } from 'react'

const PATH = /^\/inbox\/([^/]+)$/

/** Where a question has its page. */
export const promptPath = (id: string): string => `/inbox/${encodeURIComponent(id)}`

/** The question that the address names, and how to go to another: without asking the server for a page it has sent already. */
export function useChosen(): { id: string | null; choose(id: string | null, how?: 'push' | 'replace'): void } {
  const id = PATH.exec(usePathname())?.[1]
  const choose = useCallback((chosen: string | null, how: 'push' | 'replace' = 'push') => {
    const path = chosen === null ? '/inbox' : promptPath(chosen)
    window.history[how === 'push' ? 'pushState' : 'replaceState'](null, '', path)
  }, [])
  return { id: id === undefined ? null : decodeURIComponent(id), choose }
}
