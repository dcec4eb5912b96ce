/** Wakes the reaper when a clock turns up that is earlier than the one it sleeps for. Times are the database's. */
export interface Alarm {
  /** A look begins: what is heard from now on may be missing in it. */
  clear(): void
  /** What the look found: the reaper will be up at this time by itself. */
  set(wakeAt: string): void
  /** A todo's clock has changed. */
  hear(clock: string | null): void
}

/** Makes an alarm that calls `wake`. */
export function createAlarm(wake: () => void): Alarm {
  let setFor: string | null = null
  let earliest: string | null = null
  const check = () => {
    if (setFor !== null && earliest !== null && earliest < setFor) wake()
  }
  return {
    clear: () => {
      setFor = null
      earliest = null
    },
    set: (wakeAt) => {
      setFor = wakeAt
      check()
    },
    hear: (clock) => {
      if (clock === null || (earliest !== null && earliest <= clock)) return
      earliest = clock
      check()
    },
  }
}
