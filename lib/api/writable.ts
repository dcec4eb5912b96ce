import type { Database } from '#lib/db/connect'
import { type Revision, revision } from '#lib/db/revision'
import { Refusal } from '#lib/model/errors'

const FRESH_MS = 1000
const checks = new WeakMap<Database, { at: number; found: Promise<Revision> }>()

/** The revisions of this build and of the database, at most a second old. */
export function recentRevision(database: Database): Promise<Revision> {
  const last = checks.get(database)
  if (last && performance.now() - last.at < FRESH_MS) return last.found
  const found = revision(database)
  checks.set(database, { at: performance.now(), found })
  found.catch(() => checks.delete(database))
  return found
}

/** Refuses with unavailable while the database's newest migration is not the one this build knows; writes resume by themselves. */
export async function refuseWritesOfAnotherRevision(database: Database): Promise<void> {
  const { build, database: found, matches } = await recentRevision(database)
  if (matches) return
  const detail = `Writes wait: this build knows ${build}, the database is at ${found ?? 'no migration'}`
  throw new Refusal('unavailable', { detail, retry_after_seconds: 2 })
}
