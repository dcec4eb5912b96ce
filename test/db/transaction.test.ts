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
