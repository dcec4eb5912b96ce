import { createStore, type Store } from './store'

let offsetMs = 0
let isExact = false

/** The time by the server's clock, in milliseconds. Deadlines and leases are the server's; this machine's clock may be off. */
export const serverNow = (): number => Date.now() + offsetMs

/** Sets the clock by a time the server has just told to the millisecond. */
export function setServerTime(iso: string): void {
  const told = Date.parse(iso)
  if (Number.isNaN(told)) return
  offsetMs = told - Date.now()
  isExact = true
}

/** Sets the clock by an answer's Date header, which knows whole seconds only, until something better was told. */
export function setServerDate(header: string | null): void {
  const told = Date.parse(header ?? '')
  if (isExact || Number.isNaN(told)) return
  const apart = told + 500 - Date.now()
  offsetMs = Math.abs(apart) > 1500 ? apart : 0
}

/** The server's time in whole seconds, ticking once a second, for all that shows a relative time. */
export const seconds: Pick<Store<number>, 'get' | 'subscribe'> = createTicking()

function createTicking(): Pick<Store<number>, 'get' | 'subscribe'> {
  const store = createStore(0)
  let listeners = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  function tick(): void {
    const now = serverNow()
    store.set(Math.floor(now / 1000))
    timer = setTimeout(tick, 1000 - (now % 1000))
  }

  return {
    // Nobody ticks it before the first subscriber, who must not see a time long past.
    get: () => (listeners === 0 ? Math.floor(serverNow() / 1000) : store.get()),
    subscribe: (changed) => {
      if (listeners++ === 0) tick()
      const end = store.subscribe(changed)
      return () => {
        end()
        if (--listeners === 0) clearTimeout(timer)
      }
    },
  }
}
