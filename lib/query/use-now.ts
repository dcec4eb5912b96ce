import { useSyncExternalStore } from 'react'
import { seconds } from './clock'

const onServer = () => null

/** The server's time in whole seconds, once a second; null while the page is being rendered by the server or hydrated. */
export function useNow(): number | null {
  return useSyncExternalStore<number | null>(seconds.subscribe, seconds.get, onServer)
}
