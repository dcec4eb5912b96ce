import type { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { type Migration, readMigrations } from '../../prisma/folder'
import { MIGRATION_LOCK } from '../../prisma/lock'
import { Refused } from '../../prisma/refused'
import { down, status, up } from '../../prisma/runner'
import { catalog } from '../support/catalog'
import { emptyDatabase } from '../support/empty-database'

const own = readMigrations()
const names = own.map(({ name }) => name)
const [first] = names as [string]

const made = (name: string, sql: string, downSql: string | null = 'SELECT 1'): Migration => ({
  name,
  up: sql,
  down: downSql,
  checksum: `checksum of ${sql}`,
  checksums: new Set([`checksum of ${sql}`]),
})

describe('the migrations of this build', () => {
  const { session } = emptyDatabase()

  test('applied, taken back and applied again they end in the same schema', async () => {
    const client = await session()
    expect(await up(client)).toEqual(names)
    const before = await catalog(client, 'all')

    expect(await down(client, first)).toEqual(names.slice(1).reverse())
    expect(await up(client)).toEqual(names.slice(1))
    expect(await catalog(client, 'all')).toEqual(before)
  })

  test('taken back to the beginning they leave nothing but the ledger', async () => {
    const client = await session()
    expect(await down(client, null)).toEqual([...names].reverse())
    expect(await catalog(client, 'all')).toEqual([])
    expect((await status(client)).map(({ standing }) => standing)).toEqual(names.map(() => 'pending'))
  })

  test('none of them begins or ends a transaction by itself', () => {
    for (const { up: sql, down: back } of own) {
      expect(`${sql}\n${back}`).not.toMatch(/^\s*(begin|start transaction|commit|rollback|savepoint)\b[^;]*;/im)
    }
  })

  test('each of them can be taken back', () => {
    expect(own.filter(({ down: back }) => back === null)).toEqual([])
  })
})

describe('a migrated database', () => {
  const { session } = emptyDatabase()

  test('is left alone by another run', async () => {
    const client = await session()
    await up(client)
    expect(await up(client)).toEqual([])
  })

  test('holds finished rows that Prisma’s own CLI takes for its own', async () => {
    const client = await session()
    const { rows } = await client.query('SELECT * FROM _prisma_migrations ORDER BY migration_name')
    expect(rows).toEqual(
      own.map(({ name, checksum }) => ({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        checksum,
        migration_name: name,
        started_at: expect.any(Date),
        finished_at: expect.any(Date),
        rolled_back_at: null,
        logs: null,
        applied_steps_count: 1,
      })),
    )
  })

  test('refuses a migration that was edited after it had been applied, and changes nothing', async () => {
    const client = await session()
    const before = await catalog(client, 'all')
    const edited = own.map((migration) => (migration.name === first ? made(first, 'SELECT 2') : migration))
    const newer = [...edited, made('99990101000000_newer', 'CREATE TABLE newer ()')]

    await expect(up(client, { migrations: newer })).rejects.toThrow(new RegExp(`${first} is edited\\. .*new migration`))
    await expect(down(client, null, { migrations: newer })).rejects.toThrow(Refused)
    expect(await catalog(client, 'all')).toEqual(before)
  })

  test('refuses code that is older than itself, and changes nothing', async () => {
    const client = await session()
    const before = await catalog(client, 'all')
    const last = names.at(-1)

    await expect(up(client, { migrations: own.slice(0, -1) })).rejects.toThrow(
      new RegExp(`${last} is unknown\\. The database is newer than this code`),
    )
    await expect(down(client, first, { migrations: own.slice(0, -1) })).rejects.toThrow(Refused)
    expect(await catalog(client, 'all')).toEqual(before)
  })

  test('takes a checkout with other line ends for the same migrations', async () => {
    const client = await session()
    await client.query('UPDATE _prisma_migrations SET checksum = $1 WHERE migration_name = $2', [
      [...(own[0]?.checksums ?? [])].at(-1),
      first,
    ])
    expect(await up(client)).toEqual([])
  })

  test('refuses to go down to a migration that is not applied', async () => {
    const client = await session()
    const newer = made('99990101000000_newer', 'SELECT 1')
    await expect(down(client, newer.name, { migrations: [...own, newer] })).rejects.toThrow(/newer is not applied/)
  })

  test('refuses to take back what has no way back, before it takes back anything', async () => {
    const client = await session()
    const [one, two] = [made('99990101000000_one', 'CREATE TABLE one ()', null), made('99990102000000_two', 'SELECT 2')]
    const migrations = [...own, one, two]
    await up(client, { migrations })
    await expect(down(client, names.at(-1) ?? null, { migrations })).rejects.toThrow(/one has no down\.sql/)
    expect((await status(client, { migrations })).every(({ standing }) => standing === 'applied')).toBe(true)
  })
})

describe('a migration that fails', () => {
  const { session } = emptyDatabase()
  const good = made('1_good', 'CREATE TABLE good (id int)')
  const bad = made('2_bad', 'CREATE TABLE bad (id int);\nSELECT 1;\nSELECT nothing FROM nowhere')

  test('says where, and leaves neither a table nor a row, while those before it stay', async () => {
    const client = await session()
    await expect(up(client, { migrations: [good, bad] })).rejects.toThrow(
      /^2_bad\/migration\.sql:3: relation "nowhere"/,
    )
    expect(await catalog(client, 'all')).toEqual(['column good.id integer'])
    expect((await status(client, { migrations: [good, bad] })).map(({ standing }) => standing)).toEqual([
      'applied',
      'pending',
    ])
  })

  test('is applied once it has been repaired', async () => {
    const client = await session()
    const repaired = made('2_bad', 'CREATE TABLE bad (id int)')
    expect(await up(client, { migrations: [good, repaired] })).toEqual(['2_bad'])
  })

  test('under another tool, and left unfinished, is refused until somebody has looked', async () => {
    const client = await session()
    await client.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('x', 'x', '3_begun')`)
    const migrations = [good, made('2_bad', 'CREATE TABLE bad (id int)'), made('3_begun', 'SELECT 1')]
    await expect(up(client, { migrations })).rejects.toThrow(/3_begun is unfinished/)
    await client.query(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '3_begun'`)
    expect(await up(client, { migrations })).toEqual(['3_begun'])
  })
})

describe('whoever comes second', () => {
  const { session } = emptyDatabase()

  test('two runners at once apply every migration once', async () => {
    const [one, two] = await Promise.all([session(), session()])
    const [byOne, byTwo] = await Promise.all([up(one), up(two)])
    expect([...byOne, ...byTwo].sort()).toEqual(names)
    expect([byOne.length, byTwo.length].sort()).toEqual([0, names.length])
  })

  test('a runner waits for a sweep, says for whom, and goes on when the sweep has committed', async () => {
    const [runner, sweep] = await Promise.all([session(), session()])
    await down(runner, null)
    await sweep.query('BEGIN')
    await sweep.query('SELECT pg_advisory_xact_lock_shared($1)', [MIGRATION_LOCK])

    const { promise: waiting, resolve: say } = said()
    const run = up(runner, { say })
    expect(await waiting).toMatch(/^waiting for test-session \(process \d+\)/)
    await sweep.query('COMMIT')
    expect(await run).toEqual(names)
  })

  test('a sweep that begins while a runner migrates finds the lock taken', async () => {
    const [runner, sweep] = await Promise.all([session(), session()])
    await sweep.query('SELECT pg_advisory_lock(1)')
    const run = up(runner, { migrations: [...own, made('9_slow', 'SELECT pg_advisory_xact_lock(1)')] })
    await expect.poll(() => isWaiting(sweep, runner)).toBe(true)

    expect((await sweep.query('SELECT pg_try_advisory_lock_shared($1) AS taken', [MIGRATION_LOCK])).rows).toEqual([
      { taken: false },
    ])
    await sweep.query('SELECT pg_advisory_unlock(1)')
    expect(await run).toEqual(['9_slow'])
  })

  test('a table in use is asked for again, so that nobody queues behind a waiting migration for long', async () => {
    const [runner, reader] = await Promise.all([session(), session()])
    await down(runner, names.at(-1) ?? null, {
      migrations: [...own, made('9_slow', 'SELECT pg_advisory_xact_lock(1)')],
    })
    await reader.query('BEGIN')
    await reader.query('SELECT 1 FROM todos LIMIT 1')

    const { promise: waiting, resolve: say } = said()
    const busy = made('9_busy', 'ALTER TABLE todos ADD COLUMN busy boolean')
    const run = up(runner, { migrations: [...own, busy], say, lockTimeoutMs: 20 })
    expect(await waiting).toMatch(/^a table is in use by another session; trying again/)
    await reader.query('COMMIT')
    expect(await run).toEqual(['9_busy'])
  })
})

function said() {
  let resolve: (line: string) => void = () => {}
  const promise = new Promise<string>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

async function isWaiting(observer: Client, waiter: Client): Promise<boolean> {
  const { rows } = await observer.query(
    `SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted) AS waiting`,
    [(waiter as Client & { processID: number }).processID],
  )
  return rows[0].waiting
}
