import type { Client } from 'pg'
import { type Migration, readMigrations } from './folder'
import { ensureLedger, enter, readLedger, strike } from './ledger'
import { exclusively } from './lock'
import { compare, type Row, refuseDisagreement } from './refused'
import { type Patience, runSql, transaction } from './transaction'

/** Which migrations a run knows and how it reports; the defaults are this build's own, and silence. */
export interface Run extends Partial<Patience> {
  migrations?: Migration[]
}

const complete = (run: Run): Required<Run> => ({
  migrations: run.migrations ?? readMigrations(),
  say: run.say ?? (() => {}),
  lockTimeoutMs: run.lockTimeoutMs ?? 4000,
})

/** Applies what is missing, oldest first, each in a transaction of its own; returns the names applied. */
export async function up(client: Client, options: Run = {}): Promise<string[]> {
  const run = complete(options)
  return exclusively(client, run.say, async () => {
    await transaction(client, run, () => ensureLedger(client))
    const done = await agreed(client, run.migrations)
    const missing = run.migrations.filter(({ name }) => !done.has(name))
    return each(missing, (migration) => apply(client, migration, run))
  })
}

/** Takes back every migration after `keep` (all of them when null), newest first; returns the names taken back. */
export async function down(client: Client, keep: string | null, options: Run = {}): Promise<string[]> {
  const run = complete(options)
  return exclusively(client, run.say, async () => {
    const done = await agreed(client, run.migrations)
    if (keep !== null && !done.has(keep)) throw new Error(`${keep} is not applied, so there is nothing to go down to.`)
    const leaving = run.migrations.filter(({ name }) => done.has(name) && (keep === null || name > keep)).reverse()
    const oneWay = leaving.find((migration) => migration.down === null)
    if (oneWay) throw new Error(`${oneWay.name} has no down.sql, so it cannot be taken back. Nothing was changed.`)
    return each(leaving, (migration) => takeBack(client, migration, run))
  })
}

/** Where the database stands against this build, one row a migration; changes nothing. */
export async function status(client: Client, options: Run = {}): Promise<Row[]> {
  return compare(complete(options).migrations, await readLedger(client))
}

async function agreed(client: Client, migrations: Migration[]): Promise<ReadonlySet<string>> {
  const ledger = await readLedger(client)
  refuseDisagreement(compare(migrations, ledger))
  return new Set(ledger.map((entry) => entry.name))
}

async function each(migrations: Migration[], act: (migration: Migration) => Promise<boolean>): Promise<string[]> {
  const changed: string[] = []
  for (const migration of migrations) if (await act(migration)) changed.push(migration.name)
  return changed
}

// Both look again inside their transaction: behind a pooler, without the session's lock, another may have been quicker.
function apply(client: Client, migration: Migration, run: Required<Run>): Promise<boolean> {
  const { name } = migration
  return step(client, `applied ${name}`, run, async () => {
    if ((await agreed(client, run.migrations)).has(name)) return false
    await runSql(client, `${name}/migration.sql`, migration.up)
    await enter(client, migration)
    return true
  })
}

function takeBack(client: Client, migration: Migration, run: Required<Run>): Promise<boolean> {
  const { name } = migration
  return step(client, `took back ${name}`, run, async () => {
    if (!(await agreed(client, run.migrations)).has(name)) return false
    await runSql(client, `${name}/down.sql`, migration.down ?? '')
    await strike(client, migration)
    return true
  })
}

async function step(client: Client, did: string, run: Patience, work: () => Promise<boolean>): Promise<boolean> {
  const started = performance.now()
  const changed = await transaction(client, run, work)
  if (changed) run.say(`${did} (${Math.round(performance.now() - started)} ms)`)
  return changed
}
