import type { Db } from '#lib/db/connect'
import type { Leased } from '#lib/wire/frame'

/** A claimed todo's lease, with the queue of the todo. */
export type QueuedLease = Leased & { queue: string }

/** What one look at the leases found: those that changed since the last, and the database's time. */
export interface Leases {
  changed: QueuedLease[]
  /** Null when nothing is claimed. */
  now: string | null
}

interface Row extends QueuedLease {
  is_kept: boolean
  now: string
}

// A claim's own event carries its first lease; only what came after it is told here.
const LEASES = `SELECT id AS todo_id, queue, lease_expires_at, progress, clock_timestamp() AS now,
    progress IS NOT NULL OR lease_expires_at > claimed_at + make_interval(secs => lease_seconds) AS is_kept
  FROM todos WHERE state = 'claimed'`

/** Tells, at every call, which leases of claimed todos changed since the call before; nothing at the first. */
export function createLeaseWatch(db: Db): () => Promise<Leases> {
  let known: Map<string, string> | null = null
  return async () => {
    const rows = await db.query<Row>({ name: 'leases', text: LEASES })
    const before = known
    const found = rows.map(({ is_kept, now, ...lease }) => ({
      lease,
      is_kept,
      print: `${lease.lease_expires_at} ${JSON.stringify(lease.progress)}`,
    }))
    known = new Map(found.map(({ lease, print }) => [lease.todo_id, print]))
    const changed = found.filter(({ lease: { todo_id }, print, is_kept }) => {
      const last = before?.get(todo_id)
      return before !== null && (last === undefined ? is_kept : last !== print)
    })
    return { changed: changed.map(({ lease }) => lease), now: rows[0]?.now ?? null }
  }
}
