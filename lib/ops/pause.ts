/** A sleep that can be cut short. */
export interface Pause {
  /** Waits so many milliseconds at most; not at all when somebody woke it since the last sleep. */
  sleep(ms: number): Promise<void>
  wake(): void
}

/** Makes a pause for one sleeper. A wake that comes while nobody sleeps is kept for the next sleep. */
export function createPause(): Pause {
  let isWoken = false
  let getUp: (() => void) | null = null
  return {
    sleep: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => getUp?.(), ms)
        getUp = () => {
          clearTimeout(timer)
          getUp = null
          isWoken = false
          resolve()
        }
        if (isWoken) getUp()
      }),
    wake: () => {
      isWoken = true
      getUp?.()
    },
  }
}
