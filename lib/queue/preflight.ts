import type { Db } from '#lib/db/connect'
import { type Revision, revision } from '#lib/db/revision'
import { type Breach, breaches } from './invariants'

/** Whether a deployment may begin, or went well: the revisions, and every row that breaks a rule of the model. */
export interface Preflight {
  ok: boolean
  /** The database's own time, ISO 8601. */
  at: string
  revision: Revision
  /** At most 100; null while the revisions differ, for another build's rules are not this one's. */
  breaches: Breach[] | null
}

/** Checks a database from one snapshot of it and changes nothing. Reads every todo, so it takes as long as that does. */
export const preflight = (db: Db): Promise<Preflight> =>
  db.transaction(async (tx) => {
    await tx.query({ text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY' })
    await tx.query({ text: 'SET LOCAL statement_timeout = 0' })
    const [clock] = await tx.query<{ at: string }>({ text: 'SELECT now() AS at' })
    const found = await revision(tx)
    const broken = found.matches ? await breaches(tx) : null
    return { ok: broken?.length === 0, at: String(clock?.at), revision: found, breaches: broken }
  })
