import { gauge } from '#lib/ops/metrics'

/** Why there is no place for another stream. */
export type NoPlace = 'caller' | 'all' | 'stopping'

/** The places for streams: so many in all, and of one caller. */
export interface Places {
  /** Takes one and gives what gives it back, or says why there is none. */
  take(caller: string): (() => void) | Exclude<NoPlace, 'stopping'>
}

/** Makes them; `switchboard_sse_streams` tells how many are taken. */
export function createPlaces({ most, mostOfCaller }: { most: number; mostOfCaller: number }): Places {
  const own = new Map<string, number>()
  let taken = 0

  function count(caller: string, by: 1 | -1): void {
    taken += by
    const left = (own.get(caller) ?? 0) + by
    if (left > 0) own.set(caller, left)
    else own.delete(caller)
    gauge('switchboard_sse_streams', {}, taken)
  }

  return {
    take: (caller) => {
      if (taken >= most) return 'all'
      if ((own.get(caller) ?? 0) >= mostOfCaller) return 'caller'
      count(caller, 1)
      let isBack = false
      return () => {
        if (!isBack) count(caller, -1)
        isBack = true
      }
    },
  }
}
