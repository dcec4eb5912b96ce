import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'

/** Fetches anew what is in doubt, each at most once a second however often it is asked for. */
export interface Refresher {
  refresh(keys: readonly QueryKey[]): void
  stop(): void
}

const EVERY_MS = 1_000

/** `slow` names the keys that are fetched at most once in `ms`, and never at once: they are nearly right meanwhile. */
export function createRefresher(client: QueryClient, slow: { keys: readonly QueryKey[]; ms: number }): Refresher {
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  const again = new Set<string>()
  const slowHashes = new Set(slow.keys.map(hashKey))

  const fetchAnew = (queryKey: QueryKey) => void client.invalidateQueries({ queryKey })

  function later(key: QueryKey, hash: string, ms: number): void {
    const timer = setTimeout(() => {
      timers.delete(hash)
      if (!again.delete(hash)) return
      fetchAnew(key)
      later(key, hash, ms)
    }, ms)
    timers.set(hash, timer)
  }

  function refresh(key: QueryKey): void {
    const hash = hashKey(key)
    const isSlow = slowHashes.has(hash)
    if (timers.has(hash) || isSlow) again.add(hash)
    if (timers.has(hash)) return
    if (!isSlow) fetchAnew(key)
    later(key, hash, isSlow ? slow.ms : EVERY_MS)
  }

  return {
    refresh: (keys) => keys.forEach(refresh),
    stop: () => {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
      again.clear()
    },
  }
}
