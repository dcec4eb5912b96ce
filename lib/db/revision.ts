import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Db } from './connect'

/** The advisory lock that the migration runner holds exclusively; whoever must not run beside a migration takes it shared. */
export const MIGRATION_LOCK = 72707369

/** The newest migration that this build knows and the newest that the database has, and whether they are the same. */
export interface Revision {
  build: string
  /** Null for a database without any. */
  database: string | null
  matches: boolean
}

/** Compares this build with the database as it is now; a database without any migration is no error. */
export async function revision(db: Db): Promise<Revision> {
  const build = newestKnown()
  const database = await newestApplied(db)
  return { build, database, matches: build === database }
}

async function newestApplied(db: Db): Promise<string | null> {
  // Asked first: a query for a table that isn't there would break the transaction it is in.
  const [ledger] = await db.query<{ exists: boolean }>({
    name: 'has_migrations',
    text: `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
  })
  if (!ledger?.exists) return null
  const [row] = await db.query<{ name: string }>({
    name: 'newest_migration',
    text: `SELECT migration_name AS name FROM _prisma_migrations
      WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name COLLATE "C" DESC LIMIT 1`,
  })
  return row?.name ?? null
}

let known: string | undefined

// Read once: a checkout that changes beneath a running process doesn't change what that process was built for.
function newestKnown(): string {
  known ??= readdirSync(migrationsFolder(), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .at(-1)
  if (known === undefined) throw new Error('This build has no migrations under prisma/migrations')
  return known
}

/** prisma/migrations above this file, wherever a bundler has put it, else above the working directory. */
function migrationsFolder(): string {
  const { url } = import.meta
  const starts = [...(url?.startsWith('file:') ? [dirname(fileURLToPath(url))] : []), process.cwd()]
  const found = starts
    .flatMap((start) => [...withParents(start)])
    .map((folder) => join(folder, 'prisma', 'migrations'))
    .find((folder) => existsSync(folder))
  if (found === undefined) throw new Error(`There is no folder prisma/migrations above ${starts.join(' or ')}`)
  return found
}

function* withParents(folder: string): Generator<string> {
  yield folder
  if (dirname(folder) !== folder) yield* withParents(dirname(folder))
}
