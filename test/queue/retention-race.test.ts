import { expect, test } from 'vitest'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { requeue } from '#lib/queue/requeue'
import { forgetTodos, pruneAttempts } from '#lib/queue/retention'
import { reportEffect } from '#lib/queue/settle-effect'
import { findTodo } from '#lib/queue/why-not'
import { database } from '../support/database'
import { child, given, now, OPERATOR, PAY, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

async function rounds(round: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; n < times(25, 500); n++) {
    await sql`TRUNCATE todos, todo_attempts, todo_events CASCADE`
    await round(n)
  }
}

/** Retention of all that has ended, and somebody else, begun in either order. */
async function against<Other>(n: number, other: () => Promise<Other>): Promise<[number, Other]> {
  const retention = async () => (await forgetTodos(db, { endedAt: 'infinity', id: '' })).length
  if (n % 2) return Promise.all([retention(), other()])
  const [second, first] = await Promise.all([other(), retention()])
  return [first, second]
}

const rowsOf = async (id: string) =>
  (
    await sql<{ n: number }>`SELECT (SELECT count(*) FROM todo_attempts WHERE todo_id = ${id})
      + (SELECT count(*) FROM todo_events WHERE todo_id = ${id}) AS n`
  )[0]?.n

test('against a requeue: the todo is back, whole, or gone, with nothing left of it', () =>
  rounds(async (n) => {
    const { id } = await given(db, 'failed')
    const [gone, code] = await against(n, () => codeOf(requeue(db, id, OPERATOR)))
    expect([null, 'not_found']).toContain(code)
    expect(gone).toBe(code === null ? 0 : 1)
    if (code === null) expect((await now(db, id)).state).toBe('pending')
    else expect([await findTodo(db, id, OPERATOR), await rowsOf(id)]).toEqual([null, 0])
  }))

test('against a cancel: what was live stays, canceled or not, until the next round', () =>
  rounds(async (n) => {
    const live = await given(db, n % 2 ? 'pending' : 'input-required')
    const ended = await given(db, 'canceled')
    const [gone, codes] = await against(n >> 1, () =>
      Promise.all([codeOf(cancel(db, live.id, OPERATOR)), codeOf(cancel(db, ended.id, OPERATOR))]),
    )
    expect(gone).toBeGreaterThanOrEqual(0)
    expect(codes[0]).toBeNull()
    expect([null, 'not_found']).toContain(codes[1])
    await forgetTodos(db, { endedAt: 'infinity', id: '' })
    expect(await sql`SELECT id FROM todos`).toEqual([])
    expect(await sql`SELECT id FROM todo_events`).toEqual([])
  }))

test('against a requeue of a parent: its ended children stay with it, or go before it comes back', () =>
  rounds(async (n) => {
    const parent = await given(db, 'claimed')
    const part = await child(db, parent.held)
    const { lease_epoch } = await claimById(db, part.id, {}, WORKER)
    await complete(db, { id: part.id, leaseEpoch: lease_epoch, endpointId: WORKER.id }, WORKER, null)
    await cancel(db, parent.id, OPERATOR)
    // The parent is too young to go; so its child goes only while it has ended.
    const bound = {
      endedAt:
        (await sql<{ at: string }>`SELECT completed_at::text AS at FROM todos WHERE id = ${part.id}`)[0]?.at ?? '',
      id: part.id,
    }
    const retention = async () => (await forgetTodos(db, bound)).length
    const [gone] = await (n % 2
      ? Promise.all([retention(), requeue(db, parent.id, OPERATOR)])
      : Promise.all([requeue(db, parent.id, OPERATOR), retention()]).then(([back, count]) => [count, back] as const))
    expect((await now(db, parent.id)).state).toBe('pending')
    expect((await findTodo(db, part.id, OPERATOR)) === null).toBe(gone === 1)
    expect(await forgetTodos(db, bound)).toEqual([])
  }))

test('against a late word about an effect, and claims of what is pruned: heard, or not_found', () =>
  rounds(async (n) => {
    const done = await given(db, 'completed', { effect: {} })
    const many = await given(db, 'pending')
    await sql`INSERT INTO todo_attempts (todo_id, seq, lease_epoch, owner, endpoint_id, ended_at, outcome, disposition)
      SELECT ${many.id}, s, s, 'w/w', 'w', now(), 'released', 'requeued' FROM generate_series(1, 8) s`
    await sql`UPDATE todos SET attempts = 8, lease_epoch = 8 WHERE id = ${many.id}`
    const [, [code]] = await against(n, () =>
      Promise.all([
        codeOf(reportEffect(db, done.held, WORKER, { key: PAY.key, status: 'confirmed' })),
        claimById(db, many.id, {}, WORKER),
        pruneAttempts(db, 5),
      ]),
    )
    expect([null, 'not_found']).toContain(code)
    await pruneAttempts(db, 5)
    const left = await sql<{ seq: number }>`SELECT seq FROM todo_attempts WHERE todo_id = ${many.id} ORDER BY seq`
    expect(left.map(({ seq }) => seq)).toEqual([5, 6, 7, 8, 9])
  }))
