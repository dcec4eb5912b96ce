import type { Migration } from './folder'
import type { Applied } from './ledger'

/** The database and this build disagree about history: nothing was changed, and the message says what to do. */
export class Refused extends Error {
  override name = 'Refused'
}

export type Standing = 'applied' | 'pending' | 'edited' | 'unknown' | 'unfinished'

/** One line of `status`: a migration that the code, the database or both know of. */
export interface Row {
  name: string
  standing: Standing
  finishedAt: Date | null
}

/** Every migration known to either side, by name, with how the two sides agree on it. */
export function compare(migrations: Migration[], ledger: Applied[]): Row[] {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  const applied = new Map(ledger.map((entry) => [entry.name, entry]))
  const names = [...new Set([...known.keys(), ...applied.keys()])].sort()
  return names.map((name) => ({
    name,
    standing: standing(known.get(name), applied.get(name)),
    finishedAt: applied.get(name)?.finishedAt ?? null,
  }))
}

function standing(migration: Migration | undefined, entry: Applied | undefined): Standing {
  if (!entry) return 'pending'
  if (!migration) return 'unknown'
  if (!entry.finishedAt) return 'unfinished'
  return migration.checksums.has(entry.checksum) ? 'applied' : 'edited'
}

const ADVICE: Partial<Record<Standing, string>> = {
  unknown: 'The database is newer than this code. Run the newer code, or let it migrate down first.',
  edited: 'It was changed after it had been applied. Restore its migration.sql and put the change in a new migration.',
  unfinished:
    'It was begun by another tool and never finished. Repair the schema by hand, then mark it with ' +
    '`prisma migrate resolve --applied NAME` or `--rolled-back NAME`.',
}

/** Throws `Refused` with one line per migration that the database and this build disagree about. */
export function refuseDisagreement(rows: Row[]): void {
  const lines = rows.flatMap((row) => {
    const advice = ADVICE[row.standing]
    return advice ? [`${row.name} is ${row.standing}. ${advice}`] : []
  })
  if (lines.length > 0) throw new Refused(lines.join('\n'))
}
