import { useSyncExternalStore } from 'react'

const hasSelection = (): boolean => {
  const selection = document.getSelection()
  return selection !== null && !selection.isCollapsed && selection.toString().trim() !== ''
}

function onSelection(changed: () => void): () => void {
  document.addEventListener('selectionchange', changed)
  return () => document.removeEventListener('selectionchange', changed)
}

const no = () => false

/** Whether text is selected on the page, which a moving list would take away. */
export const useHasSelection = (): boolean => useSyncExternalStore(onSelection, hasSelection, no)
