import { expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { claim, claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { enqueue } from '#lib/queue/enqueue'
import { endpoint } from '../support/callers'
import { database } from '../support/database'
import { given, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'
import { PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database({ max: 16 })
keepsInvariants(db)

const limit = (queue: string, most: number | null) =>
  sql`INSERT INTO queues (name, max_claimed) VALUES (${queue}, ${most})
    ON CONFLICT (name) DO UPDATE SET max_claimed = excluded.max_claimed`

const fill = (queue: string, count: number) =>
  enqueue(
    db,
    Array.from({ length: count }, (_, n) => ({ queue, title: `Work ${n}` })),
    OPERATOR,
  )

test('max_claimed counts what is claimed and what is held', async () => {
  await limit('two', 2)
  await given(db, 'claimed', { todo: { queue: 'two' } })
  const asking = await given(db, 'input-required', { todo: { queue: 'two' } })
  const third = await given(db, 'pending', { todo: { queue: 'two' } })
  expect(await claim(db, { queues: ['two'], limit: 10 }, WORKER)).toEqual([])
  expect(await codeOf(claimById(db, third.id, {}, WORKER))).toBe('invalid_state')
  await answer(db, asking.interruptId, OPERATOR, PLAIN_REPLY)
  await complete(db, asking.held, WORKER, null)
  expect((await claimById(db, third.id, {}, WORKER)).state).toBe('claimed')
})

test('a limited queue takes nothing from the others that are asked with it', async () => {
  await limit('narrow', 2)
  await fill('narrow', 5)
  await fill('wide', 5)
  expect(await claim(db, { queues: ['narrow'] }, WORKER)).toHaveLength(1)
  const claimed = await claim(db, { queues: ['narrow', 'wide'], limit: 10 }, WORKER)
  expect(claimed.map(({ queue }) => queue).sort()).toEqual(['narrow', 'wide', 'wide', 'wide', 'wide', 'wide'])
})

test('a limit that was just set, changed or taken away is in force at once', async () => {
  await fill('sudden', 5)
  await claim(db, { queues: ['sudden'] }, WORKER)
  await limit('sudden', 2)
  expect(await claim(db, { queues: ['sudden'], limit: 10 }, WORKER)).toHaveLength(1)
  await limit('sudden', 3)
  expect(await claim(db, { queues: ['sudden'], limit: 10 }, WORKER)).toHaveLength(1)
  await limit('sudden', null)
  expect(await claim(db, { queues: ['sudden'], limit: 10 }, WORKER)).toHaveLength(2)
})

test('sixteen at once never get past max_claimed', async () => {
  const most = 5
  await limit('busy', most)
  await fill('busy', times(120, 1000))
  let held = 0
  let peak = 0
  const work = async (name: string) => {
    const worker = endpoint(name)
    for (let idle = 0; idle < 3; ) {
      const todos = await claim(db, { queues: ['busy'], limit: 3 }, worker)
      held += todos.length
      peak = Math.max(peak, held)
      idle = todos.length > 0 ? 0 : idle + 1
      for (const { id, lease_epoch } of todos) {
        // Our count goes down before the row does: it is never above what the queue counts.
        held -= 1
        await complete(db, { id, leaseEpoch: lease_epoch, endpointId: worker.id }, worker, null)
      }
    }
  }
  const counted = countEachMoment('busy')
  await Promise.all(Array.from({ length: 16 }, (_, n) => work(`busy-${n}`)))
  expect(Math.max(...(await counted()))).toBeLessThanOrEqual(most)
  expect(peak).toBeLessThanOrEqual(most)
  expect(await sql`SELECT count(*) AS left FROM todos WHERE queue = 'busy' AND state <> 'completed'`).toEqual([
    { left: 0 },
  ])
})

/** Looks at how many are held, over and over, until the returned function is called; it gives all that was seen. */
function countEachMoment(queue: string): () => Promise<number[]> {
  const seen: number[] = []
  let watching = true
  const watched = (async () => {
    while (watching) {
      const [row] = await sql<{
        n: number
      }>`SELECT count(*) AS n FROM todos WHERE queue = ${queue} AND owner IS NOT NULL`
      seen.push(row?.n ?? 0)
    }
  })()
  return async () => {
    watching = false
    await watched
    return seen
  }
}
