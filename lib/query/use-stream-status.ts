import { useSyncExternalStore } from 'react'
import { lastFactAt, type StreamStatus, streamStatus } from './stream-status'

const CONNECTING: StreamStatus = { kind: 'connecting' }
const connecting = () => CONNECTING
const none = () => null

/** How the stream stands. */
export const useStreamStatus = (): StreamStatus =>
  useSyncExternalStore(streamStatus.subscribe, streamStatus.get, connecting)

/** When the last fact came by the stream; null before the first. */
export const useLastFactAt = (): string | null => useSyncExternalStore(lastFactAt.subscribe, lastFactAt.get, none)
