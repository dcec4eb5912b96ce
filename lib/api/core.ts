import { connect, type Database } from '#lib/db/connect'
import { type Live, startLive } from '#lib/live/live'

/** What every request of a process shares. */
export interface Core {
  database: Database
  live: Live
}

const KEY = Symbol.for('switchboard.core')
const shared = globalThis as unknown as Record<symbol, Promise<Core> | undefined>

/**
 * The process's one core: the database at this address and who follows its log, opened when first asked for. Route
 * handlers inside Next are a module graph of their own and still get the same.
 */
export function processCore(databaseUrl: string): Promise<Core> {
  shared[KEY] ??= openCore(databaseUrl)
  return shared[KEY]
}

/** Opens a core of its own, which the caller closes. */
export async function openCore(databaseUrl: string): Promise<Core> {
  const database = connect({ databaseUrl, applicationName: 'switchboard-web' })
  return { database, live: await startLive(database) }
}

/** Ends every wait, then the listening and the pool. */
export async function closeCore({ database, live }: Core): Promise<void> {
  await live.stop()
  await database.close()
}
