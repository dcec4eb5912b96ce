import type { Database, Db } from '#lib/db/connect'

const FRESH_MS = 1000
const caches = new WeakMap<Database, { readAt: number; names: Promise<string[]> }>()

/**
 * The queues with a `max_claimed`, of these or of all. At most a second old: a claim that knows nothing yet of a new
 * limit gets nothing from that queue rather than too much.
 */
export async function cappedQueues({ root }: Db, among: readonly string[] | null): Promise<string[]> {
  let cached = caches.get(root)
  if (!cached || performance.now() - cached.readAt >= FRESH_MS) {
    cached = { readAt: performance.now(), names: readCapped(root) }
    cached.names.catch(() => caches.delete(root))
    caches.set(root, cached)
  }
  const names = await cached.names
  return among ? names.filter((name) => among.includes(name)) : names
}

async function readCapped(db: Db): Promise<string[]> {
  const text = 'SELECT name FROM queues WHERE max_claimed IS NOT NULL ORDER BY name'
  return (await db.query<{ name: string }>({ name: 'capped_queues', text })).map(({ name }) => name)
}
