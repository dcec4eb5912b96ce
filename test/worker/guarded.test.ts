import { describe, expect, test } from 'vitest'
import { MIGRATION_LOCK, revision } from '#lib/db/revision'
import { createSkips } from '#worker/skips'
import { tick } from '#worker/tick'
import { MIGRATION_LOCK as RUNNER_LOCK } from '../../prisma/lock'
import { database } from '../support/database'
import { given, now } from '../support/given'
import { recordedLog } from '../support/recorded-log'

const { db, sql, session } = database()

const ticked = () => {
  const { log } = recordedLog()
  return tick({ database: db, skips: createSkips(), ranAt: new Map(), log, signal: new AbortController().signal })
}

describe('a sweep', () => {
  test('never runs beside a migration', async () => {
    expect(MIGRATION_LOCK).toBe(RUNNER_LOCK)
    const { id } = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    const runner = await session()
    await runner.query('SELECT pg_advisory_lock($1)', [RUNNER_LOCK])
    expect(await ticked()).toMatchObject({ expiries: 0, refused: 'migrating', isHeldUp: true })
    expect((await now(db, id)).state).toBe('claimed')
    await runner.query('SELECT pg_advisory_unlock($1)', [RUNNER_LOCK])
    expect(await ticked()).toMatchObject({ expiries: 1, refused: null })
  })

  test('gives way to a migration that waits for a sweep under way', async () => {
    const [sweeping, runner] = [await session(), await session()]
    await sweeping.query('BEGIN')
    await sweeping.query('SELECT pg_advisory_xact_lock_shared($1)', [RUNNER_LOCK])
    const migrating = runner.query('SELECT pg_advisory_lock($1)', [RUNNER_LOCK])
    const waits = () => sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    await expect.poll(waits).toHaveLength(1)
    expect(await ticked()).toMatchObject({ refused: 'migrating' })
    await sweeping.query('COMMIT')
    await migrating
    await runner.query('SELECT pg_advisory_unlock($1)', [RUNNER_LOCK])
    expect(await ticked()).toMatchObject({ refused: null })
  })

  test('refuses a database whose newest migration is not this build’s, and names both', async () => {
    const { id } = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    const { build } = await revision(db)
    const newer = '29990101000000_from_the_future'
    await sql`INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
      VALUES ('newer', 'none', ${newer}, now(), 1)`
    expect(await ticked()).toMatchObject({ expiries: 0, refused: { build, database: newer, matches: false } })
    expect((await now(db, id)).state).toBe('claimed')
    await sql`DELETE FROM _prisma_migrations WHERE id = 'newer'`
    expect(await ticked()).toMatchObject({ expiries: 1, refused: null })
  })

  test('knows a database without any migration', async () => {
    await sql`ALTER TABLE _prisma_migrations RENAME TO elsewhere`
    expect((await ticked()).refused).toMatchObject({ database: null, matches: false })
    expect(await revision(db)).toMatchObject({ database: null })
    await sql`ALTER TABLE elsewhere RENAME TO _prisma_migrations`
    expect(await revision(db)).toMatchObject({ matches: true })
  })
})
