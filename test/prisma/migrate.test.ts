import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { USAGE } from '../../prisma/arguments'
import { readMigrations } from '../../prisma/folder'
import { emptyDatabase } from '../support/empty-database'

const SCRIPT = fileURLToPath(new URL('../../prisma/migrate.ts', import.meta.url))
const TSX = import.meta.resolve('tsx')
const names = readMigrations().map(({ name }) => name)
const { url, session } = emptyDatabase()

interface Ended {
  code: number | null
  out: string
  err: string
}

/** Runs the command from a folder that is not the repository's, against this file's database unless told otherwise. */
function migrate(args: string[], env: Record<string, string> = { DATABASE_URL: url }): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', TSX, SCRIPT, ...args], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, NODE_ENV: 'test', SWITCHBOARD_HOME: `${tmpdir()}/no-such-instance`, ...env },
  })
  const ended: Ended = { code: null, out: '', err: '' }
  child.stdout.on('data', (part) => {
    ended.out += part
  })
  child.stderr.on('data', (part) => {
    ended.err += part
  })
  return new Promise((resolve) => child.on('close', (code) => resolve({ ...ended, code })))
}

test('up says what it applied, and afterwards that there is nothing to do', async () => {
  const first = await migrate(['up'])
  expect(first).toMatchObject({ code: 0, err: '' })
  expect(first.out.match(/^applied \S+/gm)).toEqual(names.map((name) => `applied ${name}`))
  expect(await migrate(['up'])).toEqual({ code: 0, out: 'the database is up to date\n', err: '' })
})

test('down keeps the named migration, which may be named without its date', async () => {
  const [first = '', ...later] = names
  const { code, out } = await migrate(['down', '--to', first.slice(first.indexOf('_') + 1)])
  expect(code).toBe(0)
  expect(out.match(/^took back \S+/gm)).toEqual(later.reverse().map((name) => `took back ${name}`))
})

test('status shows every migration, applied or pending', async () => {
  const { code, out } = await migrate(['status'])
  expect(code).toBe(0)
  expect(
    out
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/\s+/).slice(0, 2)),
  ).toEqual(names.map((name, index) => [name, index === 0 ? 'applied' : 'pending']))
})

test('a database that does not fit the code is refused with exit code 3 and what to do', async () => {
  const client = await session()
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('n', '', $1, now())`,
    ['99990101000000_newer'],
  )
  const refused = await migrate(['up'])
  expect(refused).toMatchObject({ code: 3, out: '' })
  expect(refused.err).toBe(
    '99990101000000_newer is unknown. The database is newer than this code. ' +
      'Run the newer code, or let it migrate down first.\n',
  )
  expect((await migrate(['status'])).code).toBe(3)
  await client.query(`DELETE FROM _prisma_migrations WHERE id = 'n'`)
})

test('the checksum is that of the file, as Prisma computes it', async () => {
  const client = await session()
  const { rows } = await client.query('SELECT checksum FROM _prisma_migrations')
  expect(rows).toEqual([
    {
      checksum: createHash('sha256')
        .update(readMigrations()[0]?.up ?? '')
        .digest('hex'),
    },
  ])
})

test('mistyped arguments are refused with exit code 2 and the usage', async () => {
  const { code, out, err } = await migrate(['sideways'])
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toBe(`unknown command: sideways\n\n${USAGE}`)
})

test('without a database it says how to name one', async () => {
  expect(await migrate(['up'], {})).toEqual({
    code: 1,
    out: '',
    err: 'No database: set DATABASE_URL, or run npm start first.\n',
  })
})

test('an address that is none is refused without being shown', async () => {
  const { code, err } = await migrate(['up'], { DATABASE_URL: 'secret' })
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^DATABASE_URL is no address of a database\./) })
  expect(err).not.toContain('secret')
})

test('a database that cannot be reached is named without its password', async () => {
  const { code, out, err } = await migrate(['up'], { DATABASE_URL: 'postgresql://me:secret@127.0.0.1:1/db' })
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toBe('The database at 127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n')
})
