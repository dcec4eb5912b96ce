import type { Db } from '#lib/db/connect'

/** The database's clock as this process knows it: the one by which leases end and events happen. */
export interface DatabaseClock {
  /** Milliseconds since 1970; by this machine's clock until it has been set. */
  now(): number
  /** Asks the database what time it is. */
  set(): Promise<void>
  /** Takes the time from an answer that was asked for at `askedAt` by `Date.now()` and has just come. */
  heard(time: string, askedAt: number): void
}

/** Makes one that has not been set. */
export function createDatabaseClock(db: Db): DatabaseClock {
  let aheadMs = 0
  const heard: DatabaseClock['heard'] = (time, askedAt) => {
    aheadMs = Date.parse(time) - (askedAt + Date.now()) / 2
  }
  return {
    heard,
    now: () => Date.now() + aheadMs,
    set: async () => {
      const askedAt = Date.now()
      const [row] = await db.query<{ now: string }>({ name: 'clock', text: 'SELECT clock_timestamp() AS now' })
      if (row) heard(row.now, askedAt)
    },
  }
}
