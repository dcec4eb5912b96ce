/** One tab's part in the election. */
export interface Candidacy {
  /** Leads from now on: the leader sleeps, or is gone without having left. */
  takeOver(): void
  leave(): void
}

const NAME = 'switchboard.stream'

/** Begins to lead; gives what ends it. */
type Lead = () => () => void

/** Among all tabs of this browser one leads at a time; when it closes, another does. */
export function standForLeader(lead: Lead): Candidacy {
  // Web Locks are there on https and on the own machine only.
  return navigator.locks ? byLock(navigator.locks, lead) : byLease(localStorage, lead)
}

function byLock(locks: LockManager, lead: Lead): Candidacy {
  let isOver = false
  let current = { leave: () => {} }

  function stand(steal: boolean): void {
    const queued = new AbortController()
    let release = () => {}
    let end = () => {}
    const mine = { leave: () => {} }
    mine.leave = () => {
      release()
      queued.abort()
    }
    current = mine
    const hold = () => {
      end = lead()
      return new Promise<void>((resolve) => {
        release = resolve
      })
    }
    // The promise is rejected when another tab takes the lock over, and when we no longer wait for it.
    const held = steal ? locks.request(NAME, { steal }, hold) : locks.request(NAME, { signal: queued.signal }, hold)
    held
      .catch(() => {})
      .finally(() => {
        end()
        if (!isOver && current === mine) stand(false)
      })
  }

  stand(false)
  return {
    takeOver: () => {
      const before = current
      stand(true)
      before.leave()
    },
    leave: () => {
      isOver = true
      current.leave()
    },
  }
}

const LEASE_MS = 5_000
const RENEW_MS = 1_000

function byLease(storage: Storage, lead: Lead): Candidacy {
  const id = crypto.getRandomValues(new Uint32Array(4)).join('-')
  let end: (() => void) | null = null

  const holder = (): string | null => {
    const [owner, until] = (storage.getItem(NAME) ?? '').split(' ')
    return owner && Number(until) > Date.now() ? owner : null
  }
  const claim = () => storage.setItem(NAME, `${id} ${Date.now() + LEASE_MS}`)

  function look(): void {
    const now = holder()
    // Two may write in the same moment; the last stands, and only it finds itself there when it looks again.
    if (now === id) end ??= lead()
    if (now === id || now === null) {
      claim()
    } else {
      end?.()
      end = null
    }
  }

  look()
  const timer = setInterval(look, RENEW_MS)
  return {
    takeOver: claim,
    leave: () => {
      clearInterval(timer)
      if (holder() === id) storage.removeItem(NAME)
      end?.()
    },
  }
}
