/** Todos that a sweep could not move, each left alone for a while. */
export interface Skips {
  /** Leaves a todo alone: for a second, then twice as long each time, at most half a minute. Returns the milliseconds. */
  add(id: string): number
  /** Those still to be left alone. */
  ids(): string[]
  /** When the first of them may be tried again, in milliseconds from now; null when there is none. */
  nextInMs(): number | null
}

interface Skip {
  times: number
  retryAt: number
}

const FIRST_MS = 1000
const MOST_MS = 30_000
// One that has not failed for so long after its retry was moved meanwhile, by us or by somebody else.
const FORGET_MS = 60_000

/** Makes an empty list. */
export function createSkips(now: () => number = () => performance.now()): Skips {
  const skips = new Map<string, Skip>()
  const left = () => {
    for (const [id, { retryAt }] of skips) if (retryAt + FORGET_MS < now()) skips.delete(id)
    return [...skips].filter(([, { retryAt }]) => retryAt > now())
  }
  return {
    add: (id) => {
      const times = skips.get(id)?.times ?? 0
      const delayMs = Math.min(FIRST_MS * 2 ** times, MOST_MS)
      skips.set(id, { times: times + 1, retryAt: now() + delayMs })
      return delayMs
    },
    ids: () => left().map(([id]) => id),
    nextInMs: () => {
      const waits = left().map(([, { retryAt }]) => retryAt - now())
      return waits.length > 0 ? Math.min(...waits) : null
    },
  }
}
