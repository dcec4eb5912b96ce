/** Lets only so many begin within a stretch of time. */
export interface Ration {
  /** Whether one more may begin now, in milliseconds on any one clock. */
  begin(now: number): boolean
}

/** At most so many within any stretch of `ms` milliseconds. */
export function createRation({ most, ms }: { most: number; ms: number }): Ration {
  let begun: number[] = []
  return {
    begin: (now) => {
      begun = begun.filter((at) => now - at < ms)
      if (begun.length >= most) return false
      begun.push(now)
      return true
    },
  }
}
