import { expect, test } from 'vitest'
import { database } from '../support/database'

const { db, sql } = database()

const make = (name: string) => ({ text: 'INSERT INTO queues (name) VALUES ($1)', values: [name] })

const names = async () => (await sql<{ name: string }>`SELECT name FROM queues ORDER BY name`).map(({ name }) => name)

test('what was to follow a commit follows it, once, and not a rollback', async () => {
  const done: string[] = []
  await db.transaction(async (tx) => {
    await tx.transaction(async (inner) => {
      await inner.query(make('kept'))
      inner.afterCommit(() => done.push('kept'))
    })
    expect(done).toEqual([])
  })
  const broken = db.transaction(async (tx) => {
    await tx.query(make('dropped'))
    tx.afterCommit(() => done.push('dropped'))
    throw new Error('no')
  })
  await expect(broken).rejects.toThrow('no')
  expect(done).toEqual(['kept'])
  expect(await names()).toEqual(['kept'])
})

test('a transaction that went on after an error in it is not taken for committed', async () => {
  const done: string[] = []
  const broken = db.transaction(async (tx) => {
    await tx.query(make('lost'))
    await tx.query({ text: 'SELECT 1 / 0' }).catch(() => {})
    tx.afterCommit(() => done.push('lost'))
  })
  await expect(broken).rejects.toThrow('rolled back')
  expect(done).toEqual([])
  expect(await names()).not.toContain('lost')
})

test('a connection that is lost between two statements of a transaction ends that transaction and nothing else', async () => {
  const cut = db.transaction(async (tx) => {
    const [own] = await tx.query<{ pid: number }>({ text: 'SELECT pg_backend_pid() AS pid' })
    await tx.query(make('cut'))
    await sql`SELECT pg_terminate_backend(${own?.pid}, 5000)`
    // Its goodbye has come in once another connection has been answered a few times.
    for (let turn = 0; turn < 5; turn++) await sql`SELECT 1`
    await tx.query({ text: 'SELECT 1' })
  })
  await expect(cut).rejects.toThrow(/terminat|not queryable|closed/i)
  expect(await names()).not.toContain('cut')
})
