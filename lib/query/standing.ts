import { serverNow } from './clock'
import type { Frame } from './frame'
import type { StreamStatus } from './stream-status'

/** Tells whether an open stream is still catching up. */
export interface Standing {
  /** The stream is open. */
  begin(): void
  heard(frames: readonly Frame[]): void
  end(): void
}

const CAUGHT_UP_MS = 300

/** A stream that replays what was missed is catching up until it tells something newer than itself, or pauses. */
export function createStanding(isReplaying: boolean, stand: (status: StreamStatus) => void): Standing {
  let timer: ReturnType<typeof setTimeout> | undefined
  let openedAt = Number.POSITIVE_INFINITY
  let isCatchingUp = false

  function caughtUp(): void {
    clearTimeout(timer)
    isCatchingUp = false
    stand({ kind: 'live' })
  }

  function wait(): void {
    clearTimeout(timer)
    timer = setTimeout(caughtUp, CAUGHT_UP_MS)
  }

  return {
    begin: () => {
      openedAt = serverNow()
      isCatchingUp = isReplaying
      stand({ kind: isReplaying ? 'catching-up' : 'live' })
      if (isCatchingUp) wait()
    },
    heard: (frames) => {
      if (!isCatchingUp) return
      const isPast = frames.some(({ name, data }) => name === 'transition' && Date.parse(data.at) > openedAt)
      if (isPast) caughtUp()
      else wait()
    },
    end: () => clearTimeout(timer),
  }
}
