import { describe, expect, test } from 'vitest'
import { LIVE, TERMINAL } from '#lib/model/states'
import { cancel, reject } from '#lib/queue/cancel'
import { complete } from '#lib/queue/complete'
import { endpoint } from '../support/callers'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf, refusalOf } from '../support/refusal'

const { db, sql } = database()
keepsInvariants(db)

const lastEvent = async (id: string) =>
  (
    await sql`SELECT verb, from_state, to_state, reason, actor FROM todo_events WHERE todo_id = ${id} ORDER BY id DESC`
  )[0]

test.each(LIVE.filter((state) => state !== 'waiting'))(
  'cancel ends a todo that is %s, with all that is open',
  async (state) => {
    const { id, todo } = await given(db, state, { failures: 1 })
    const canceled = await cancel(db, id, OPERATOR, 'no longer wanted')
    expect(canceled).toMatchObject({ state: 'canceled', owner: null, lease_expires_at: null, open_interrupt_id: null })
    expect(canceled.completed_at).toBe(canceled.state_since)
    expect(await lastEvent(id)).toEqual({
      verb: 'canceled',
      from_state: state,
      to_state: 'canceled',
      reason: 'no longer wanted',
      actor: 'user:operator-1',
    })
    expect(
      await sql`SELECT outcome, disposition FROM todo_attempts WHERE todo_id = ${id} AND seq = ${todo.attempts}`,
    ).toEqual(
      state === 'pending'
        ? [{ outcome: 'failed', disposition: 'retry_scheduled' }]
        : [{ outcome: 'canceled', disposition: 'canceled' }],
    )
    expect(await sql`SELECT status FROM interrupts WHERE todo_id = ${id} AND status <> 'canceled'`).toEqual([])
  },
)

test('cancel of a canceled todo is done already; of any other that has ended it is refused', async () => {
  for (const state of TERMINAL) {
    const { id, todo } = await given(db, state)
    expect(await codeOf(cancel(db, id, OPERATOR))).toBe(state === 'canceled' ? null : 'todo_terminal')
    expect(await now(db, id)).toEqual(todo)
  }
})

test('a refusal tells the state', async () => {
  const { id } = await given(db, 'claimed')
  expect(await refusalOf(reject(db, id, OPERATOR))).toMatchObject({
    code: 'invalid_state',
    facts: { state: 'claimed' },
  })
})

test('reject turns a pending todo away, with who and why', async () => {
  const { id } = await given(db, 'pending')
  expect(await reject(db, id, OPERATOR, 'not ours')).toMatchObject({ state: 'rejected' })
  expect(await lastEvent(id)).toMatchObject({ verb: 'rejected', reason: 'not ours', actor: 'user:operator-1' })
})

describe.each([
  ['cancel', cancel],
  ['reject', reject],
])('who may %s', (_, end) => {
  const creator = endpoint('creator', { scopes: ['enqueue'] })

  test('an endpoint that only enqueues ends what it created', async () => {
    const { id } = await given(db, 'pending', { creator })
    expect(await end(db, id, creator)).toMatchObject({ completed_at: expect.any(String) })
    expect(await lastEvent(id)).toMatchObject({ actor: 'client:creator' })
  })

  test('and nothing else', async () => {
    const { id, todo } = await given(db, 'pending')
    const other = await given(db, 'pending', { creator: endpoint('other') })
    expect(await codeOf(end(db, id, creator))).toBe('forbidden')
    expect(await codeOf(end(db, other.id, creator))).toBe('forbidden')
    expect(await now(db, id)).toEqual(todo)
  })

  test('an endpoint that operates ends any it sees', async () => {
    const { id } = await given(db, 'pending', { creator })
    expect(await codeOf(end(db, id, endpoint('narrow', { scopes: ['operate'], queues: ['other'] })))).toBe('not_found')
    expect(await codeOf(end(db, id, endpoint('operating', { scopes: ['operate'] })))).toBe(null)
  })
})

test('cancel and complete at once: one of them happens', async () => {
  for (let n = 0; n < times(30, 300); n++) {
    const { id, held, todo } = await given(db, 'claimed')
    const both = [codeOf(cancel(db, id, OPERATOR)), codeOf(complete(db, held, WORKER, 'done'))]
    const [canceled, completed] = await Promise.all(both)
    expect([canceled, completed].filter((code) => code === null)).toHaveLength(1)
    expect(canceled ?? completed).toBe('todo_terminal')
    expect(await now(db, id)).toMatchObject({
      state: canceled === null ? 'canceled' : 'completed',
      version: todo.version + 1,
    })
  }
})
