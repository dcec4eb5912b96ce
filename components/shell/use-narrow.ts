import { useSyncExternalStore } from 'react'

const QUERY = '(max-width: 48em)'

function onChange(changed: () => void): () => void {
  const media = matchMedia(QUERY)
  media.addEventListener('change', changed)
  return () => media.removeEventListener('change', changed)
}

const isNow = () => matchMedia(QUERY).matches
const unknown = () => null

/** Whether the screen is as narrow as a telephone's; null while the server renders, which cannot know. */
export const useNarrow = (): boolean | null => useSyncExternalStore<boolean | null>(onChange, isNow, unknown)
