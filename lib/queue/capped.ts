import type { Db } from '#lib/db/connect'
import { recently } from './recent'

const recentlyCapped = recently(async (db) => {
  const text = 'SELECT name FROM queues WHERE max_claimed IS NOT NULL ORDER BY name'
  return (await db.query<{ name: string }>({ name: 'capped_queues', text })).map(({ name }) => name)
})

/**
 * The queues with a `max_claimed`, of these or of all. At most a second old unless `freshly`: a claim that knows nothing
 * yet of a new limit gets nothing from that queue rather than too much.
 */
export async function cappedQueues(db: Db, among: readonly string[] | null, freshly = false): Promise<string[]> {
  const names = await recentlyCapped(db, freshly)
  return among ? names.filter((name) => among.includes(name)) : names
}
