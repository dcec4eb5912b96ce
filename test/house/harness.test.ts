import { Client } from 'pg'
import { expect, test } from 'vitest'
import { database } from '../support/database'
import { times } from '../support/numbers'
import { scratch } from '../support/scratch'

const { db, sql, session } = database()

test('a file that leaves a connection open is told which', async () => {
  const { url, create, drop } = scratch('empty')
  await create()
  const forgotten = new Client({ connectionString: url, application_name: 'forgotten' })
  const cut = new Promise((resolve) => forgotten.on('error', resolve))
  await forgotten.connect()
  await forgotten.query('SELECT 42')
  await expect(drop()).rejects.toThrow(/left 1 connection\(s\) open:\nforgotten, idle: SELECT 42/)
  expect(await cut).toBeInstanceOf(Error)
})

test('a test database is migrated, empty, and reached alike by the product and by the test', async () => {
  expect(await sql`SELECT ${7}::int AS seven, ${'pending'}::text AS state`).toEqual([{ seven: 7, state: 'pending' }])
  expect(await db.query({ text: 'SELECT count(*) AS todos FROM todos' })).toEqual([{ todos: 0 }])
  expect((await (await session()).query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

test('races and properties run in reduced numbers unless everything is to be proved', () => {
  expect(times(3, 300)).toBe(process.env.SWITCHBOARD_PROVE === '1' ? 300 : 3)
})
