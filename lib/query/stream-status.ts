import { createStore } from './store'

/** How the stream stands. Times are in milliseconds on this machine's clock. */
export type StreamStatus =
  | { kind: 'connecting' }
  | { kind: 'live' }
  /** Connected again; what happened meanwhile is being told. */
  | { kind: 'catching-up' }
  /** `retryAt` is null while it is being tried. */
  | { kind: 'lost'; since: number; retryAt: number | null }
  | { kind: 'signed-out' }

/** How this page's stream stands. */
export const streamStatus = createStore<StreamStatus>({ kind: 'connecting' })

/** When the last fact came, by the server's clock; null before the first. */
export const lastFactAt = createStore<string | null>(null)
