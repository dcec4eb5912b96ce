import { beforeEach, describe, expect, test } from 'vitest'
import { createEndpoint } from '#lib/auth/endpoints'
import { cancel } from '#lib/queue/cancel'
import { enqueue } from '#lib/queue/enqueue'
import { revokeEndpoint } from '#lib/queue/revoke'
import { readClocks } from '#worker/clocks'
import { createSkips } from '#worker/skips'
import { tick } from '#worker/tick'
import { endpoint, registered } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { child, given, now, OPERATOR } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { recordedLog } from '../support/recorded-log'
import { codeOf } from '../support/refusal'

const { db, sql, session } = database()
keepsInvariants(db)

const { log, lines } = recordedLog()
beforeEach(async () => {
  lines.length = 0
  await sql`TRUNCATE todos, todo_attempts, todo_events, settings, endpoints CASCADE`
})

const ticked = (skips = createSkips()) =>
  tick({ database: db, skips, ranAt: new Map(), log, signal: new AbortController().signal })

let named = 0
const agent = () => registered(db, `agent-${++named}`)

const expire = (id: string) => sql`UPDATE endpoints SET expires_at = now() WHERE id = ${id}`

const standing = async (id: string) =>
  (
    await sql<{ revoked: boolean; settled: boolean }>`
      SELECT revoked_at IS NOT NULL AS revoked, settled_at IS NOT NULL AS settled FROM endpoints WHERE id = ${id}`
  )[0]

describe('an endpoint whose time is over', () => {
  test('is revoked by the next tick, with all that a revocation does', async () => {
    const worker = await agent()
    const assigned = await given(db, 'waiting', { worker, todo: { assignee: worker.name } })
    const claimed = await given(db, 'claimed', { worker })
    const held = await given(db, 'input-required', { worker })
    const whole = await given(db, 'claimed')
    const part = await child(db, whole.held, undefined, { assignee: worker.name })
    await expire(worker.id)
    expect((await ticked()).revoked).toBe(4)
    expect(await now(db, assigned.id)).toMatchObject({ state: 'failed', error: { code: 'endpoint_revoked' } })
    expect(await now(db, claimed.id)).toMatchObject({ state: 'pending', lease_expirations: 0, failures: 0 })
    expect(await now(db, held.id)).toMatchObject({ state: 'input-required', owner: null })
    expect(await now(db, part.id)).toMatchObject({ state: 'failed', error: { code: 'endpoint_revoked' } })
    expect(await now(db, whole.id)).toMatchObject({ state: 'claimed', live_children: 0 })
    const actors = await sql`SELECT DISTINCT actor FROM todo_events WHERE reason = 'endpoint_revoked'`
    expect(actors).toEqual([{ actor: 'reaper' }])
    expect(await standing(worker.id)).toEqual({ revoked: true, settled: false })
  })

  test('without any todo is revoked too', async () => {
    const worker = await agent()
    await expire(worker.id)
    await ticked()
    expect((await standing(worker.id))?.revoked).toBe(true)
  })

  test('keeps its place until a locked row of it is free, and no other waits for that', async () => {
    const [one, other] = [await agent(), await agent()]
    const locked = await given(db, 'pending', { todo: { assignee: one.name } })
    const free = await given(db, 'pending', { todo: { assignee: other.name } })
    await expire(one.id)
    await expire(other.id)
    const holder = await session()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM todos WHERE id = $1 FOR UPDATE', [locked.id])
    expect((await ticked()).revoked).toBe(1)
    expect((await now(db, free.id)).state).toBe('failed')
    expect([await standing(one.id), await standing(other.id)]).toMatchObject([{ revoked: false }, { revoked: true }])
    await holder.query('ROLLBACK')
    expect((await ticked()).revoked).toBe(1)
    expect((await standing(one.id))?.revoked).toBe(true)
  })

  test('with more todos than a batch has them all ended by one tick', async () => {
    const worker = await agent()
    const todos = Array.from({ length: 1000 }, (_, n) => ({ queue: 'many', title: `Todo ${n}`, assignee: worker.name }))
    await enqueue(db, todos, OPERATOR)
    await expire(worker.id)
    expect((await ticked()).revoked).toBe(1000)
    expect((await standing(worker.id))?.revoked).toBe(true)
  })

  test('is not kept by a row that cannot be moved, which is logged and tried again', async () => {
    const worker = await agent()
    const ids: string[] = []
    for (let n = 0; n < 9; n++) ids.push((await given(db, 'pending', { todo: { assignee: worker.name } })).id)
    await expire(worker.id)
    await db.query({
      text: `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`,
    })
    await db.query({
      text: `CREATE TRIGGER refuse BEFORE UPDATE ON todos FOR EACH ROW WHEN (OLD.id = '${ids[4]}') EXECUTE FUNCTION refuse()`,
    })
    const skips = createSkips()
    expect(await ticked(skips)).toMatchObject({ revoked: 8, isHeldUp: true })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ todo_id: ids[4], sweep: 'expireEndpoints' })
    await ticked(skips)
    expect((await standing(worker.id))?.revoked).toBe(true)
    await db.query({ text: 'DROP TRIGGER refuse ON todos' })
    expect((await ticked()).revoked).toBe(1)
  })

  test('is known to the clock, as long as it is in force', async () => {
    const worker = await agent()
    const look = async () => {
      const { wakeInMs } = await readClocks(db, { ttls: { held: 0, parked: 0 }, except: [], since: null })
      return Math.round(wakeInMs / 1000)
    }
    await sql`UPDATE endpoints SET expires_at = now() + interval '12 s' WHERE id = ${worker.id}`
    expect(await look()).toBe(12)
    await revokeEndpoint(db, worker.name)
    expect(await look()).toBe(30)
  })
})

describe('a revoked endpoint', () => {
  test('is watched for five minutes, then the reaper is done with it', async () => {
    const worker = await agent()
    await revokeEndpoint(db, worker.name)
    await given(db, 'claimed', { worker })
    expect((await ticked()).revoked).toBe(1)
    expect(await standing(worker.id)).toEqual({ revoked: true, settled: false })
    await sql`UPDATE endpoints SET revoked_at = now() - interval '301 s'`
    await ticked()
    expect(await standing(worker.id)).toEqual({ revoked: true, settled: true })
  })

  test('that was revoked long ago, by a version that left its todos alone, loses them', async () => {
    const worker = await agent()
    const { id } = await given(db, 'pending', { todo: { assignee: worker.name } })
    await sql`UPDATE endpoints SET revoked_at = now() - interval '90 days'`
    await ticked()
    expect(await now(db, id)).toMatchObject({ state: 'failed', error: { code: 'endpoint_revoked' } })
    expect(await standing(worker.id)).toEqual({ revoked: true, settled: true })
  })
})

describe('what only an endpoint out of force could claim', () => {
  const GONE = [
    ['a lapsed lease', 'claimed', { lease_expires_at: 1 }, {}],
    ['an unanswered question', 'input-required', { interrupted_at: 90_000 }, {}],
    ['an unanswered parked question', 'input-required', { interrupted_at: 90_000 }, { mode: 'park' }],
  ] as const

  test.each(GONE)('is failed by the sweep that would put it back: %s', async (_, state, ago, question) => {
    const worker = await agent()
    await sql`INSERT INTO settings (key, value) VALUES ('parked_interrupt_ttl_seconds', '60')`
    const { id } = await given(db, state, { worker, question, todo: { assignee: worker.name }, ago })
    await expire(worker.id)
    expect(await ticked()).toMatchObject({ expiries: 1, revoked: 0 })
    expect(await now(db, id)).toMatchObject({ state: 'failed', error: { code: 'endpoint_revoked' } })
    const [last] = await sql`SELECT verb FROM todo_events WHERE todo_id = ${id} AND verb IN ('failed', 'requeued')`
    expect(last).toEqual({ verb: 'failed' })
  })

  test('is not put back when its last child is gone', async () => {
    const worker = await agent()
    const { id } = await given(db, 'waiting', { worker, todo: { assignee: worker.name } })
    const [part] = await sql<{ id: string }>`SELECT id FROM todos WHERE parent_id = ${id}`
    await sql`UPDATE todos SET parent_id = NULL, depth = 0 WHERE id = ${part?.id}`
    await sql`UPDATE todos SET live_children = 0 WHERE id = ${id}`
    await expire(worker.id)
    await ticked()
    expect(await now(db, id)).toMatchObject({ state: 'failed', error: { code: 'endpoint_revoked' } })
    expect(await sql`SELECT 1 FROM todo_events WHERE todo_id = ${id} AND verb = 'continued'`).toEqual([])
    await cancel(db, part?.id ?? '', OPERATOR)
    await sql`TRUNCATE todos, todo_attempts, todo_events CASCADE`
  })

  test('is put back when it is assigned to nobody', async () => {
    const worker = await agent()
    const { id } = await given(db, 'claimed', { worker, ago: { lease_expires_at: 1 } })
    await expire(worker.id)
    expect((await ticked()).expiries).toBe(1)
    expect(await now(db, id)).toMatchObject({ state: 'pending', lease_expirations: 1 })
  })
})

test('an endpoint is made with an end, by a span or a time, which lies ahead', async () => {
  const made = await createEndpoint(db, { name: 'short', scopes: ['work'], expires_in_seconds: 3600 })
  const [row] = await sql<{ seconds: number }>`
    SELECT extract(epoch FROM expires_at - created_at)::float8 AS seconds FROM endpoints WHERE id = ${made.endpoint.id}`
  expect(row?.seconds).toBe(3600)
  const at = '2099-01-01T00:00:00.000Z'
  expect((await createEndpoint(db, { name: 'long', scopes: ['work'], expires_at: at })).endpoint.expires_at).toBe(at)
  const past = createEndpoint(db, { name: 'past', scopes: ['work'], expires_at: '2020-01-01T00:00:00.000Z' })
  expect(await codeOf(past)).toBe('validation_failed')
})

test('an endpoint without a row of its own is nobody’s concern', async () => {
  const { id } = await given(db, 'claimed', { worker: endpoint('walk-in') })
  await backdate(db, id, { lease_expires_at: -60 })
  expect((await ticked()).revoked).toBe(0)
})
