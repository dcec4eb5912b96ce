import { type ErrorCode, Refusal } from '#lib/model/errors'
import { jittered, pause } from './pause'

const FIRST_MS = 100
const MOST_MS = 5000

/** How long and after which failures something is tried again. */
export interface Persistence {
  isWorthIt: (error: unknown) => boolean
  /** How long to go on trying; for ever unless said. */
  forMs?: number
  signal?: AbortSignal | undefined
  /** Hears of a failure that will be tried again. */
  onFailure?: (error: unknown) => void
}

/** Does it again, a little slower each time and no sooner than the server asked for, until it goes well or is not worth it. */
export async function persist<Result>(work: () => Promise<Result>, persistence: Persistence): Promise<Result> {
  const { isWorthIt, forMs = Number.POSITIVE_INFINITY, signal, onFailure } = persistence
  const deadline = performance.now() + forMs
  for (let failures = 0; ; failures++) {
    try {
      return await work()
    } catch (error) {
      signal?.throwIfAborted()
      const waitMs = Math.max(backoffMs(failures), askedForMs(error))
      if (!isWorthIt(error) || performance.now() + waitMs > deadline) throw error
      onFailure?.(error)
      await pause(waitMs, signal)
    }
  }
}

const backoffMs = (failures: number): number => jittered(Math.min(FIRST_MS * 2 ** Math.min(failures, 20), MOST_MS))

const askedForMs = (error: unknown): number =>
  error instanceof Refusal ? (error.facts.retry_after_seconds ?? 0) * 1000 : 0

const PASSING: ReadonlySet<ErrorCode> = new Set(['unavailable', 'rate_limited', 'internal'])

/** Whether it may go well later without anybody changing the request: the server is away, busy, or stumbled. */
export const isPassing = (error: unknown): boolean => error instanceof Refusal && PASSING.has(error.code)
