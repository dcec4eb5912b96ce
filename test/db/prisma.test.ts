import { expect, test } from 'vitest'
import { connect } from '#lib/db/connect'
import { prisma } from '#lib/db/prisma'
import { database } from '../support/database'

const { db, url } = database()

test('Prisma works on our own pool and opens none of its own', async () => {
  const own = connect({ databaseUrl: url, max: 1, applicationName: 'test-prisma' })
  try {
    expect(await prisma(own).people.count()).toBe(0)
    expect(own.pool.totalCount).toBe(1)
    const [{ open }] = (await db.query({
      text: `SELECT count(*) AS open FROM pg_stat_activity WHERE application_name = 'test-prisma'`,
    })) as [{ open: number }]
    expect(open).toBe(1)
  } finally {
    await own.close()
  }
})

test('asking again gives the same client', () => {
  expect(prisma(db)).toBe(prisma(db))
})
