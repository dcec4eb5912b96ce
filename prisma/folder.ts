import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One folder under prisma/migrations: what `up` and `down` run, and the checksums that may stand in the database. */
export interface Migration {
  name: string
  up: string
  down: string | null
  checksum: string
  checksums: ReadonlySet<string>
}

// The root is the parent both of prisma/ (from source) and of dist/ (bundled), whatever the working directory.
const MIGRATIONS = join(fileURLToPath(new URL('..', import.meta.url)), 'prisma', 'migrations')

/** All migrations of this build, oldest first; refuses a folder without a readable migration.sql. */
export function readMigrations(folder = MIGRATIONS): Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => readMigration(folder, name))
}

function readMigration(folder: string, name: string): Migration {
  const up = readFileSync(join(folder, name, 'migration.sql'), 'utf8')
  const down = join(folder, name, 'down.sql')
  return {
    name,
    up,
    down: existsSync(down) ? readFileSync(down, 'utf8') : null,
    checksum: sha256(up),
    checksums: new Set([up, unix(up), unix(up).replaceAll('\n', '\r\n')].map(sha256)),
  }
}

// As in Prisma, a checkout that changed only the line ends is not an edit.
const unix = (text: string) => text.replaceAll('\r\n', '\n')

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
