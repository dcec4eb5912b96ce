import type { Database, Db } from '#lib/db/connect'

const FRESH_MS = 1000

/** What was read at most a second ago. */
export interface Recent<Value> {
  /** `freshly` reads it in any case. */
  (db: Db, freshly?: boolean): Promise<Value>
  /** The next call in this process reads anew, whatever was read before or is being read now. */
  forget(db: Db): void
}

/**
 * What `read` gave at most a second ago, for verbs that need it at every call. Reads through the caller's own connection
 * and waits for nobody else's read: were every connection in a transaction that waits for another's, none would ever be
 * free.
 */
export function recently<Value>(read: (db: Db) => Promise<Value>): Recent<Value> {
  const known = new WeakMap<Database, { readAt: number; value: Value }>()
  const forgotten = new WeakMap<Database, number>()
  const recent = async (db: Db, freshly = false): Promise<Value> => {
    const before = known.get(db.root)
    if (before && !freshly && performance.now() - before.readAt < FRESH_MS) return before.value
    const readAt = performance.now()
    const value = await read(db)
    if ((forgotten.get(db.root) ?? -1) < readAt) known.set(db.root, { readAt, value })
    return value
  }
  return Object.assign(recent, {
    forget: (db: Db) => {
      known.delete(db.root)
      forgotten.set(db.root, performance.now())
    },
  })
}
