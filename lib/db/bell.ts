import type { Database } from './connect'

/** `log`: the event log has news. `ready`: something may have become claimable without an event. */
export type Bell = 'log' | 'ready'

/** The NOTIFY channel of a bell. */
export const channelOf = (bell: Bell): string => `switchboard_${bell}`

const QUIET_MS = 5
const bells = new WeakMap<object, Map<Bell, Ringing>>()

interface Ringing {
  again: boolean
}

/**
 * Rings a bell in every listening process: at once, then at most every 5 ms however often it is called. Never inside a
 * transaction, since a notifying commit takes a lock that all others wait for. A lost ring costs one poll interval.
 */
export function ring(database: Database, bell: Bell): void {
  const own = bells.get(database) ?? new Map<Bell, Ringing>()
  bells.set(database, own)
  const ringing = own.get(bell)
  if (ringing) {
    ringing.again = true
    return
  }
  void toll(database, bell, own)
}

async function toll(database: Database, bell: Bell, own: Map<Bell, Ringing>): Promise<void> {
  const ringing: Ringing = { again: false }
  own.set(bell, ringing)
  do {
    ringing.again = false
    const notified = database.query({ name: `ring_${bell}`, text: `SELECT pg_notify('${channelOf(bell)}', '1')` })
    await notified.catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS).unref())
  } while (ringing.again)
  // At once, not after a further await: a ring in between would be taken for one that is still going on.
  own.delete(bell)
}
