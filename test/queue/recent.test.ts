import { expect, test } from 'vitest'
import { connect, type Database } from '#lib/db/connect'
import { claim } from '#lib/queue/claim'
import { enqueue } from '#lib/queue/enqueue'
import { requeue } from '#lib/queue/requeue'
import { endpoint } from '../support/callers'
import { database } from '../support/database'
import { given, OPERATOR } from '../support/given'
import { keepsInvariants } from '../support/invariants'

const { db, url } = database()
keepsInvariants(db)

const CONNECTIONS = 4
const CALLS = 5 * CONNECTIONS

/** Calls many times at once through a pool that has looked up nothing yet. */
async function atOnce<Result>(call: (cold: Database, n: number) => Promise<Result>): Promise<Result[]> {
  const cold = connect({ databaseUrl: url, max: CONNECTIONS })
  try {
    return await Promise.all(Array.from({ length: CALLS }, (_, n) => call(cold, n)))
  } finally {
    await cold.close()
  }
}

const PAIR = [
  { queue: 'many', title: 'One' },
  { queue: 'many', title: 'Another' },
]

// A transaction that waited for a second connection, to look up a setting or a limit, would wait for ever once every
// connection is taken by one of its like.
test('more transactions at once than connections all get through: enqueue', async () => {
  expect(await atOnce((cold) => enqueue(cold, PAIR, OPERATOR))).toHaveLength(CALLS)
})

test('more transactions at once than connections all get through: claim', async () => {
  const claims = await atOnce((cold, n) => claim(cold, { queues: ['many'], requestId: `claim ${n}` }, endpoint('one')))
  expect(claims.flat()).toHaveLength(CALLS)
})

test('more transactions at once than connections all get through: requeue', async () => {
  const { id } = await given(db, 'failed')
  const calls = await atOnce((cold) => requeue(cold, id, OPERATOR).catch(({ code }) => code))
  expect(calls.filter((code) => code === 'invalid_state')).toHaveLength(CALLS - 1)
})
