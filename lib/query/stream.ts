import { notifyManager, type QueryClient } from '@tanstack/react-query'
import { applyFrames } from './cache'
import { setServerTime } from './clock'
import type { Frame } from './frame'
import { KEYS } from './keys'
import { createRefresher } from './refresher'
import { shareStream } from './shared-stream'
import { lastFactAt, type StreamStatus, streamStatus } from './stream-status'

// The first frame is applied at once, the next ones together at the next repaint; under load they are gathered for as
// long as three repaints take.
const REPAINT_MS = 16
const LOADED_MS = 50
const LOADED_FRAMES = 4
const COUNTS_MS = 5_000

let wakeStream = () => {}

/** Opens a lost stream at once instead of waiting for the next try. */
export const tryNow = (): void => wakeStream()

/** Keeps a cache right by the stream, shared with the other tabs; gives what ends it. */
export function startStream(client: QueryClient): () => void {
  const refresher = createRefresher(client, { keys: [KEYS.allCounts], ms: COUNTS_MS })
  const gathering = gather((frames) => {
    notifyManager.batch(() => refresher.refresh(applyFrames(client, frames)))
  })
  const stream = shareStream({
    hear: ({ frames, now }) => {
      if (now) setServerTime(now)
      noteFacts(frames)
      gathering.add(frames)
    },
    stand: (status) => {
      streamStatus.set(status)
      if (status.kind === 'lost') fetchWithout(client, status)
    },
  })
  wakeStream = stream.wake
  const endWaking = onWaking(stream.wake)
  return () => {
    endWaking()
    stream.close()
    gathering.stop()
    refresher.stop()
  }
}

function noteFacts(frames: readonly Frame[]): void {
  const last = frames.findLast(({ name }) => name === 'transition')
  if (last?.name === 'transition') lastFactAt.set(last.data.at)
}

// Something between us and the server may hold back streams and nothing else.
function fetchWithout(client: QueryClient, { retryAt }: StreamStatus & { kind: 'lost' }): void {
  if (retryAt === null && document.visibilityState === 'visible') {
    void client.refetchQueries({ type: 'active' }, { cancelRefetch: false })
  }
}

function gather(apply: (frames: Frame[]) => void): { add(frames: readonly Frame[]): void; stop(): void } {
  let gathered: Frame[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  function flush(): void {
    timer = undefined
    if (gathered.length === 0) return
    const frames = gathered
    gathered = []
    timer = setTimeout(flush, frames.length > LOADED_FRAMES ? LOADED_MS : REPAINT_MS)
    apply(frames)
  }

  return {
    add: (frames) => {
      gathered.push(...frames)
      if (timer === undefined) flush()
    },
    stop: () => clearTimeout(timer),
  }
}

function onWaking(wake: () => void): () => void {
  const end = new AbortController()
  const { signal } = end
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && wake(), { signal })
  document.addEventListener('resume', wake, { signal })
  window.addEventListener('pageshow', ({ persisted }) => persisted && wake(), { signal })
  window.addEventListener('online', wake, { signal })
  return () => end.abort()
}
