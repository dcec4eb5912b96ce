import { NoAnswer, within } from '#lib/db/within'
import type { Core } from './core'
import { isLostDatabase } from './lost-database'
import { recentRevision } from './writable'

const PATIENCE_MS = 3000

/** How ready a web process is, for machines: 200 while it can do all it should, else 503 and what is missing. */
export interface Readiness {
  status: 'ready' | 'not_ready'
  /** Whether the database answers. */
  database: boolean
  /** The newest migration this build knows and the newest the database has; null when it cannot be asked. */
  migrations: { build: string; database: string | null; matches: boolean } | null
  /** `listening`, or `polling` while notifications don't arrive: news then comes up to a second late. */
  listener: 'listening' | 'polling'
}

/** Asks the database whether it answers and is at this build's revision. */
export async function readiness({ database, live }: Core): Promise<[200 | 503, Readiness]> {
  const listener = live.isListening ? 'listening' : 'polling'
  try {
    const migrations = await within(PATIENCE_MS, recentRevision(database))
    const isReady = migrations.matches
    return [isReady ? 200 : 503, { status: isReady ? 'ready' : 'not_ready', database: true, migrations, listener }]
  } catch (error) {
    if (!(error instanceof NoAnswer) && !isLostDatabase(error)) throw error
    return [503, { status: 'not_ready', database: false, migrations: null, listener }]
  }
}
