import type { Database, Db } from '#lib/db/connect'

const FRESH_MS = 1000

/**
 * What `read` gave at most a second ago, for verbs that need it at every call; `freshly` reads it in any case. Reads
 * through the caller's own connection and waits for nobody else's read: were every connection in a transaction that waits
 * for another's, none would ever be free.
 */
export function recently<Value>(read: (db: Db) => Promise<Value>): (db: Db, freshly?: boolean) => Promise<Value> {
  const known = new WeakMap<Database, { readAt: number; value: Value }>()
  return async (db, freshly = false) => {
    const before = known.get(db.root)
    if (before && !freshly && performance.now() - before.readAt < FRESH_MS) return before.value
    const readAt = performance.now()
    const value = await read(db)
    known.set(db.root, { readAt, value })
    return value
  }
}
