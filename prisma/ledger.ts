import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import type { Migration } from './folder'

/** What the database says of one migration, in the table that Prisma's own CLI reads and writes. */
export interface Applied {
  name: string
  checksum: string
  finishedAt: Date | null
}

/** Makes Prisma's table where it is missing; call it while nobody else migrates. */
export async function ensureLedger(client: ClientBase): Promise<void> {
  if (await hasLedger(client)) return
  await client.query(`
    CREATE TABLE _prisma_migrations (
      id varchar(36) PRIMARY KEY NOT NULL,
      checksum varchar(64) NOT NULL,
      finished_at timestamptz,
      migration_name varchar(255) NOT NULL,
      logs text,
      rolled_back_at timestamptz,
      started_at timestamptz NOT NULL DEFAULT now(),
      applied_steps_count integer NOT NULL DEFAULT 0
    )`)
}

/** The migrations that count as applied (or as begun and never finished), oldest first; empty without the table. */
export async function readLedger(client: ClientBase): Promise<Applied[]> {
  if (!(await hasLedger(client))) return []
  const { rows } = await client.query<Applied>(`
    SELECT DISTINCT ON (migration_name COLLATE "C")
      migration_name AS name, checksum, finished_at AS "finishedAt"
    FROM _prisma_migrations
    WHERE rolled_back_at IS NULL
    ORDER BY migration_name COLLATE "C", started_at DESC`)
  return rows
}

/** Enters a migration as applied; belongs in the transaction that ran its SQL. */
export async function enter(client: ClientBase, migration: Migration): Promise<void> {
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
    [randomUUID(), migration.checksum, migration.name],
  )
}

/** Strikes a migration out, so that `up` applies it again; belongs in the transaction that ran its down.sql. */
export async function strike(client: ClientBase, migration: Migration): Promise<void> {
  await client.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [migration.name])
}

async function hasLedger(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found`)
  return rows[0].found
}
