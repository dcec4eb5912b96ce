import { describe, expect, test } from 'vitest'
import { cancelBulk, orderBulk } from '#lib/queue/bulk'
import { BULK_ROWS, takeBulkBatch } from '#lib/queue/bulk-batch'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { enqueue } from '#lib/queue/enqueue'
import { listBulkResults, listBulks, readBulk } from '#lib/queue/read-bulk'
import { wait } from '#lib/queue/wait'
import type { Caller } from '#lib/wire/caller'
import { endpoint, person, registered } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { child, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

/** Takes batches of a run until nothing is left. */
async function carriedOut(id: string, limit = BULK_ROWS): Promise<void> {
  while ((await db.transaction((tx) => takeBulkBatch(tx, id, { limit, tells: true }))) > 0);
}

async function resultsOf(id: string, caller: Caller = OPERATOR) {
  const { results } = await listBulkResults(db, { id }, { limit: 200, caller })
  return new Map(results.map(({ todo_id, ok, code }) => [todo_id, ok ? 'done' : code]))
}

const NONE = '00000000-0000-7000-8000-000000000000'

describe('a bulk run', () => {
  test('ends what can be ended, and says of each other todo why not', async () => {
    const pending = await given(db, 'pending')
    const claimed = await given(db, 'claimed')
    const held = await given(db, 'input-required')
    const done = await given(db, 'completed')
    const canceled = await given(db, 'canceled')
    const ids = [pending, claimed, held, done, canceled].map(({ id }) => id)
    const { bulk_id, matched } = await orderBulk(
      db,
      { action: 'cancel', ids: [...ids, NONE, pending.id], reason: 'No longer wanted' },
      OPERATOR,
    )
    expect(matched).toBe(6)
    await carriedOut(bulk_id, 2)
    expect(await resultsOf(bulk_id)).toEqual(
      new Map([
        [NONE, 'not_found'],
        [pending.id, 'done'],
        [claimed.id, 'done'],
        [held.id, 'done'],
        [done.id, 'todo_terminal'],
        [canceled.id, 'done'],
      ]),
    )
    expect(await readBulk(db, bulk_id, OPERATOR)).toMatchObject({
      action: 'cancel',
      status: 'completed',
      matched: 6,
      done: 4,
      failed: 2,
      ordered_by: 'user:operator-1',
    })
    const [event] =
      await sql`SELECT verb, actor, reason, data FROM todo_events WHERE todo_id = ${claimed.id} ORDER BY id DESC`
    expect(event).toEqual({
      verb: 'canceled',
      actor: 'user:operator-1',
      reason: 'No longer wanted',
      data: { bulk_id },
    })
    expect((await now(db, canceled.id)).version).toBe(canceled.todo.version)
  })

  test('is about what matches its filter when it is ordered, in the states its action can move unless told', async () => {
    const queue = 'snapshot'
    const before = await given(db, 'pending', { todo: { queue } })
    await given(db, 'claimed', { todo: { queue } })
    await given(db, 'pending')
    const order = { action: 'reject', filter: { queue } } as const
    const { bulk_id, matched } = await orderBulk(db, order, OPERATOR)
    const after = await given(db, 'pending', { todo: { queue } })
    expect(matched).toBe(1)
    await carriedOut(bulk_id)
    expect((await now(db, before.id)).state).toBe('rejected')
    expect((await now(db, after.id)).state).toBe('pending')
    const told = await orderBulk(db, { ...order, filter: { queue, state: ['claimed'] } }, OPERATOR)
    await carriedOut(told.bulk_id)
    expect([...(await resultsOf(told.bulk_id)).values()]).toEqual(['invalid_state'])
  })

  test('about nothing is over at once', async () => {
    const { bulk_id, matched } = await orderBulk(db, { action: 'cancel', filter: { queue: 'nothing-here' } }, OPERATOR)
    expect(matched).toBe(0)
    expect(await readBulk(db, bulk_id, OPERATOR)).toMatchObject({ status: 'completed', done: 0, failed: 0 })
  })

  test('puts back what failed with a fresh allowance, and refuses what would end at once or may not go back', async () => {
    const failed = await given(db, 'failed', { failures: 1 })
    const late = await given(db, 'failed', { ago: { deadline_at: 60 } })
    const assignee = await registered(db, 'bulk-assignee')
    const assigned = await given(db, 'canceled', { todo: { assignee: assignee.name } })
    await sql`UPDATE endpoints SET revoked_at = now() WHERE id = ${assignee.id}`
    const parent = await given(db, 'claimed')
    const orphan = await child(db, parent.held)
    await cancel(db, orphan.id, OPERATOR)
    await cancel(db, parent.id, OPERATOR)
    const keyed = { queue: 'keyed', idempotency_key: 'same' }
    const [first, second] = [
      await given(db, 'failed', { todo: keyed }),
      await given(db, 'rejected', { todo: { ...keyed } }),
    ]
    const done = await given(db, 'completed')
    const spent = await given(db, 'claimed', { todo: { budget: { max_tokens: 5 } } })
    await cancel(db, spent.id, OPERATOR)
    await sql`UPDATE todos SET usage = '{"claim": {}, "total": {"cost_usd": 0, "tokens": 9, "seconds": 0}}' WHERE id = ${spent.id}`
    const ids = [failed, late, assigned, orphan, first, second, done, spent].map(({ id }) => id)
    const { bulk_id } = await orderBulk(db, { action: 'requeue', ids }, OPERATOR)
    await carriedOut(bulk_id)
    expect(await resultsOf(bulk_id)).toEqual(
      new Map([
        [failed.id, 'done'],
        [late.id, 'invalid_state'],
        [assigned.id, 'invalid_state'],
        [orphan.id, 'invalid_state'],
        [first.id, 'done'],
        [second.id, 'duplicate_key'],
        [done.id, 'todo_terminal'],
        [spent.id, 'invalid_state'],
      ]),
    )
    const back = await now(db, failed.id)
    expect(back).toMatchObject({ state: 'pending', error: null, failures: failed.todo.failures })
    expect(back.max_attempts).toBeGreaterThan(back.failures)
    const { results } = await listBulkResults(db, { id: bulk_id }, { outcome: 'failed', caller: OPERATOR })
    expect(results.find(({ todo_id }) => todo_id === late.id)?.detail).toMatch(/deadline .* is over/)
  })

  test('cancels families whole: a parent, its children, and parts that are named themselves', async () => {
    const parent = await given(db, 'claimed')
    const [one, two] = [await child(db, parent.held), await child(db, parent.held)]
    await wait(db, parent.held, WORKER, {})
    const { bulk_id } = await orderBulk(db, { action: 'cancel', ids: [one.id, parent.id] }, OPERATOR)
    await carriedOut(bulk_id)
    for (const { id } of [parent, one, two]) expect((await now(db, id)).state).toBe('canceled')
    expect(await resultsOf(bulk_id)).toEqual(
      new Map([
        [parent.id, 'done'],
        [one.id, 'done'],
      ]),
    )
  })

  test('that ends the last two children in one statement continues their parent once', async () => {
    for (let round = 0; round < times(20, 500); round++) {
      const parent = await given(db, 'claimed')
      const children = [await child(db, parent.held), await child(db, parent.held)]
      await wait(db, parent.held, WORKER, {})
      const { bulk_id } = await orderBulk(db, { action: 'cancel', ids: children.map(({ id }) => id) }, OPERATOR)
      await carriedOut(bulk_id)
      expect(await now(db, parent.id)).toMatchObject({ state: 'pending', live_children: 0 })
      const continued = await sql`SELECT id FROM todo_events WHERE todo_id = ${parent.id} AND verb = 'continued'`
      expect(continued).toHaveLength(1)
    }
  })

  test('stops where it is told to; what it has done stays done, and what is left stays as it is', async () => {
    const queue = 'stopped'
    await enqueue(
      db,
      Array.from({ length: 10 }, (_, n) => ({ queue, title: `Todo ${n}` })),
      OPERATOR,
    )
    const { bulk_id } = await orderBulk(db, { action: 'cancel', filter: { queue } }, OPERATOR)
    await db.transaction((tx) => takeBulkBatch(tx, bulk_id, { limit: 4, tells: false }))
    expect(await cancelBulk(db, bulk_id, OPERATOR)).toMatchObject({ status: 'canceled', matched: 10, done: 4 })
    await carriedOut(bulk_id)
    expect(await cancelBulk(db, bulk_id, OPERATOR)).toMatchObject({ status: 'canceled', done: 4 })
    const states = await sql`SELECT state, count(*)::int AS n FROM todos WHERE queue = ${queue} GROUP BY 1 ORDER BY 1`
    expect(states).toEqual([
      { state: 'canceled', n: 4 },
      { state: 'pending', n: 6 },
    ])
    const { results } = await listBulkResults(db, { id: bulk_id }, { outcome: 'left', caller: OPERATOR })
    expect(results).toHaveLength(6)
    const over = await orderBulk(db, { action: 'cancel', filter: { queue, state: ['canceled'] } }, OPERATOR)
    await carriedOut(over.bulk_id)
    expect(await codeOf(cancelBulk(db, over.bulk_id, OPERATOR))).toBe('invalid_state')
  })

  test('touches and shows nothing of queues that are not its orderer’s', async () => {
    const own = await given(db, 'pending', { todo: { queue: 'own' } })
    const foreign = await given(db, 'pending', { todo: { queue: 'foreign', title: 'A secret' } })
    const limited = endpoint('limited', { queues: ['own'] })
    const ids = [own.id, foreign.id]
    const { bulk_id } = await orderBulk(db, { action: 'cancel', ids }, limited)
    await carriedOut(bulk_id)
    expect(await resultsOf(bulk_id, limited)).toEqual(
      new Map([
        [own.id, 'done'],
        [foreign.id, 'not_found'],
      ]),
    )
    const { results } = await listBulkResults(db, { id: bulk_id }, { caller: limited })
    expect(results.map(({ title }) => title)).not.toContain('A secret')
    expect((await now(db, foreign.id)).state).toBe('pending')
    expect(await codeOf(orderBulk(db, { action: 'cancel', filter: { queue: 'foreign' } }, limited))).toBe('forbidden')
    const all = await orderBulk(db, { action: 'cancel', filter: { state: ['pending'] } }, limited)
    await carriedOut(all.bulk_id)
    expect((await now(db, foreign.id)).state).toBe('pending')
    const { bulks } = await listBulks(db, {}, limited)
    expect(bulks.map(({ id }) => id)).toEqual([all.bulk_id, bulk_id])
    expect(await codeOf(readBulk(db, bulk_id, endpoint('other', { queues: ['own'] })))).toBe('not_found')
  })

  test('and single verbs at once move each todo once', async () => {
    const queue = 'raced'
    const todos = Array.from({ length: 60 }, (_, n) => ({ queue, title: `Todo ${n}` }))
    const made = await enqueue(db, todos, OPERATOR)
    const { bulk_id } = await orderBulk(db, { action: 'cancel', filter: { queue } }, OPERATOR)
    const ids = made.map(({ todo }) => todo.id)
    const singly = ids.map((id, n) =>
      (n % 2 === 0 ? cancel(db, id, person('somebody')) : claimById(db, id, {}, WORKER)).catch(() => null),
    )
    await Promise.all([carriedOut(bulk_id, 7), carriedOut(bulk_id, 7), ...singly])
    const ends = await sql`SELECT todo_id FROM todo_events WHERE queue = ${queue} AND verb = 'canceled'
      GROUP BY 1 HAVING count(*) <> 1`
    expect(ends).toEqual([])
    expect(await readBulk(db, bulk_id, OPERATOR)).toMatchObject({ status: 'completed', matched: 60, done: 60 })
    const states = await sql`SELECT DISTINCT state FROM todos WHERE queue = ${queue}`
    expect(states).toEqual([{ state: 'canceled' }])
  })

  test('tells the log how it stands', async () => {
    const { id } = await given(db, 'pending')
    const { bulk_id } = await orderBulk(db, { action: 'cancel', ids: [id] }, OPERATOR)
    await carriedOut(bulk_id)
    const events =
      await sql`SELECT actor, data FROM todo_events WHERE verb = 'bulk' AND data ->> 'bulk_id' = ${bulk_id} ORDER BY id`
    const facts = { bulk_id, action: 'cancel', matched: 1, failed: 0 }
    expect(events).toEqual([
      { actor: 'user:operator-1', data: { ...facts, status: 'running', done: 0 } },
      { actor: 'user:operator-1', data: { ...facts, status: 'completed', done: 1 } },
    ])
  })
})

test('a deadline that is over is found by the database’s clock', async () => {
  const todo = await given(db, 'failed')
  await sql`UPDATE todos SET deadline_at = now() + interval '1 hour' WHERE id = ${todo.id}`
  const ahead = await orderBulk(db, { action: 'requeue', ids: [todo.id] }, OPERATOR)
  await carriedOut(ahead.bulk_id)
  expect([...(await resultsOf(ahead.bulk_id)).values()]).toEqual(['done'])
  await cancel(db, todo.id, OPERATOR)
  await backdate(db, todo.id, { deadline_at: 1 })
  const over = await orderBulk(db, { action: 'requeue', ids: [todo.id] }, OPERATOR)
  await carriedOut(over.bulk_id)
  expect([...(await resultsOf(over.bulk_id)).values()]).toEqual(['invalid_state'])
})
