import { describe, expect, test } from 'vitest'
import { factsOf } from '#lib/live/facts'
import { cardsOf, endOfLog, readLog } from '#lib/live/read-log'
import { LIVE, type State } from '#lib/model/states'
import { exposition } from '#lib/ops/metrics'
import { answer } from '#lib/queue/answer'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { edit } from '#lib/queue/edit'
import { enqueue } from '#lib/queue/enqueue'
import { expireEndpoints } from '#lib/queue/expire-endpoints'
import { requeue } from '#lib/queue/requeue'
import { revokeEndpoint } from '#lib/queue/revoke'
import { wait } from '#lib/queue/wait'
import { registered } from '../support/callers'
import { database } from '../support/database'
import { child, type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'
import { PLAIN_REPLY } from '../support/verbs'

const { db, sql, session } = database()
keepsInvariants(db)

let named = 0
const agent = () => registered(db, `agent-${++named}`)

const lastEvent = async (id: string) =>
  (
    await sql`SELECT verb, from_state, to_state, reason, actor FROM todo_events WHERE todo_id = ${id} ORDER BY id DESC LIMIT 1`
  )[0]

const attempts = (id: string) =>
  sql`SELECT outcome, disposition, error FROM todo_attempts WHERE todo_id = ${id} ORDER BY seq`

const question = async ({ interruptId }: Given) =>
  (await sql`SELECT status, mode FROM interrupts WHERE id = ${interruptId}`)[0]

const inForce = async (id: string) =>
  (await sql<{ alive: boolean }>`SELECT revoked_at IS NULL AS alive FROM endpoints WHERE id = ${id}`)[0]?.alive

describe('a revocation', () => {
  test.each(LIVE)('fails what only that endpoint could claim: %s', async (state: State) => {
    const worker = await agent()
    const mine = await given(db, state, { worker, todo: { assignee: worker.name } })
    expect(await revokeEndpoint(db, worker.name, 'user:ada')).toEqual({
      name: worker.name,
      failed: 1,
      requeued: 0,
      parked: 0,
    })
    expect(await now(db, mine.id)).toMatchObject({
      state: 'failed',
      error: { code: 'endpoint_revoked', message: expect.stringContaining(worker.name) },
      owner: null,
      failures: 0,
      lease_expirations: 0,
      version: mine.todo.version + (state === 'waiting' ? 2 : 1),
    })
    expect(await lastEvent(mine.id)).toEqual({
      verb: 'failed',
      from_state: state,
      to_state: 'failed',
      reason: 'endpoint_revoked',
      actor: 'user:ada',
    })
    expect(await attempts(mine.id)).toEqual(
      state === 'pending'
        ? []
        : [
            {
              outcome: 'revoked',
              disposition: 'dead_lettered',
              error: null,
            },
          ],
    )
    if (mine.interruptId) expect(await question(mine)).toMatchObject({ status: 'canceled' })
    expect(await inForce(worker.id)).toBe(false)
  })

  test('gives back what it has claimed: to anybody, at once, at no cost', async () => {
    const worker = await agent()
    const { id, held } = await given(db, 'claimed', { worker, failures: 1 })
    expect(await revokeEndpoint(db, worker.name)).toMatchObject({ failed: 0, requeued: 1, parked: 0 })
    const todo = await now(db, id)
    expect(todo).toMatchObject({ state: 'pending', owner: null, failures: 1, lease_expirations: 0, attempts: 2 })
    expect(todo.available_at).toBe(todo.state_since)
    expect(await lastEvent(id)).toMatchObject({ verb: 'requeued', reason: 'endpoint_revoked', actor: 'system' })
    expect((await attempts(id)).at(-1)).toEqual({ outcome: 'revoked', disposition: 'requeued', error: null })

    expect((await claimById(db, id, {}, WORKER)).state).toBe('claimed')
    // A call let in before comes too late, and people can see it.
    expect(await codeOf(complete(db, held, worker, null))).toBe('lease_lost')
    expect(await lastEvent(id)).toMatchObject({ verb: 'fenced', reason: 'late_complete' })
  })

  test.each(['input-required', 'auth-required'] as const)('leaves a question it holds open: %s', async (state) => {
    const worker = await agent()
    const asked = await given(db, state, { worker, ago: { interrupted_at: 50 } })
    expect(await revokeEndpoint(db, worker.name)).toMatchObject({ failed: 0, requeued: 0, parked: 1 })
    expect(await now(db, asked.id)).toMatchObject({
      state,
      owner: null,
      interrupted_at: asked.todo.interrupted_at,
      open_interrupt_id: asked.interruptId,
    })
    expect(await question(asked)).toEqual({ status: 'open', mode: 'park' })
    expect(await lastEvent(asked.id)).toMatchObject({ verb: 'parked', reason: 'endpoint_revoked' })
    const reply = state === 'input-required' ? PLAIN_REPLY : ({ action: 'accept' } as const)
    await answer(db, asked.interruptId, OPERATOR, reply)
    expect((await claimById(db, asked.id, {}, WORKER)).attempts).toBe(2)
  })

  test('touches nobody else’s todos, nor what ended, nor what is parked or waits for children', async () => {
    const worker = await agent()
    const others = [
      await given(db, 'claimed'),
      await given(db, 'input-required'),
      await given(db, 'pending', { creator: worker }),
      await given(db, 'input-required', { worker, question: { mode: 'park' } }),
      await given(db, 'waiting', { worker }),
      await given(db, 'completed', { worker, todo: { assignee: worker.name } }),
    ]
    expect(await revokeEndpoint(db, worker.name)).toMatchObject({ failed: 0, requeued: 0, parked: 0 })
    for (const { id, todo } of others) expect(await now(db, id)).toEqual(todo)
  })

  test('of a parent ends its children, of a last child lets its parent go on, of both fails both', async () => {
    const worker = await agent()
    const whole = await given(db, 'claimed', { worker: WORKER })
    const part = await child(db, whole.held, WORKER, { assignee: worker.name })
    const theirs = await given(db, 'claimed', { worker, todo: { assignee: worker.name } })
    const own = await child(db, theirs.held, worker, { assignee: worker.name })
    const free = await child(db, theirs.held, worker)
    await revokeEndpoint(db, worker.name)
    expect(await now(db, whole.id)).toMatchObject({ state: 'claimed', live_children: 0 })
    for (const one of [part, own, theirs]) {
      expect(await now(db, one.id)).toMatchObject({ state: 'failed', error: { code: 'endpoint_revoked' } })
    }
    expect(await now(db, free.id)).toMatchObject({ state: 'canceled' })

    const other = await agent()
    const waits = await given(db, 'claimed')
    await child(db, waits.held, WORKER, { assignee: other.name })
    await wait(db, waits.held, WORKER)
    await revokeEndpoint(db, other.name)
    expect(await now(db, waits.id)).toMatchObject({ state: 'pending', live_children: 0 })
  })

  test('is all or nothing', async () => {
    const worker = await agent()
    const first = await given(db, 'claimed', { worker })
    const { id } = await given(db, 'pending', { todo: { assignee: worker.name } })
    await db.query({
      text: `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`,
    })
    await db.query({
      text: `CREATE TRIGGER refuse BEFORE UPDATE ON todos FOR EACH ROW WHEN (OLD.id = '${id}') EXECUTE FUNCTION refuse()`,
    })
    await expect(revokeEndpoint(db, worker.name)).rejects.toThrow('refused')
    await db.query({ text: 'DROP TRIGGER refuse ON todos' })
    await db.query({ text: 'DROP FUNCTION refuse' })
    expect(await inForce(worker.id)).toBe(true)
    expect(await now(db, first.id)).toEqual(first.todo)
    expect(await revokeEndpoint(db, worker.name)).toMatchObject({ failed: 1, requeued: 1 })
  })

  test('waits for who has locked a row of it', async () => {
    const worker = await agent()
    const { id } = await given(db, 'claimed', { worker })
    const holder = await session()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM todos WHERE id = $1 FOR UPDATE', [id])
    const revoking = revokeEndpoint(db, worker.name)
    const waits = () =>
      sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    await expect.poll(async () => (await waits()).length).toBe(1)
    await holder.query('ROLLBACK')
    expect(await revoking).toMatchObject({ requeued: 1 })
  })

  test('a second time changes nothing, and of nobody is not_found', async () => {
    const worker = await agent()
    await given(db, 'claimed', { worker })
    const both = await Promise.all([revokeEndpoint(db, worker.name), revokeEndpoint(db, worker.name)])
    expect(both.map(({ requeued }) => requeued).sort()).toEqual([0, 1])
    expect(await codeOf(revokeEndpoint(db, 'nobody'))).toBe('not_found')
  })

  test('moves more todos than a statement does', async () => {
    const worker = await agent()
    const todos = Array.from({ length: 1000 }, (_, n) => ({ queue: 'many', title: `Todo ${n}`, assignee: worker.name }))
    await enqueue(db, todos, OPERATOR)
    await enqueue(db, todos.slice(0, 200), OPERATOR)
    expect(await revokeEndpoint(db, worker.name)).toMatchObject({ failed: 1200 })
  })

  test('tells the hooks of each, and moves the counters', async () => {
    const worker = await agent()
    const queue = 'told'
    const assigned = await given(db, 'input-required', { worker, todo: { queue, assignee: worker.name } })
    const claimed = await given(db, 'claimed', { worker, todo: { queue } })
    const held = await given(db, 'input-required', { worker, todo: { queue } })
    const before = await endOfLog(db)
    await revokeEndpoint(db, worker.name)
    const { events } = await readLog(db, before)
    const cards = await cardsOf(
      db,
      events.flatMap(({ todo_id }) => todo_id ?? []),
    )
    const told = events.flatMap((event) => factsOf(event, cards.get(event.todo_id ?? '') ?? null))
    expect(
      told.map(({ name, fact }) =>
        name === 'ready' ? [name, fact.todo_id, fact.reason] : [name, (fact as { verb: string }).verb],
      ),
    ).toEqual([
      ['transition', 'failed'],
      ['transition', 'requeued'],
      ['ready', claimed.id, 'requeued'],
      ['transition', 'parked'],
    ])
    expect(events.map(({ todo_id }) => todo_id)).toEqual([assigned.id, claimed.id, held.id])
    const text = await exposition()
    expect(text).toContain(`switchboard_todo_attempts_closed_total{queue="${queue}",outcome="revoked"} 2`)
    expect(text).toContain(`switchboard_todos_finished_total{queue="${queue}",state="failed"} 1`)
    expect(text).toContain(`switchboard_interrupts_closed_total{queue="${queue}",kind="input",status="canceled"} 1`)
  })
})

describe('an endpoint that is out of force', () => {
  const OUT = { revoked: `revoked_at = now()`, expired: `expires_at = now()` }

  test.each(Object.entries(OUT))('is no assignee any more: %s', async (_, set) => {
    const worker = await agent()
    const { id } = await given(db, 'failed', { worker, todo: { assignee: worker.name } })
    const live = await given(db, 'pending')
    await db.query({ text: `UPDATE endpoints SET ${set} WHERE id = $1`, values: [worker.id] })
    const assignee = worker.name
    expect(await codeOf(enqueue(db, [{ queue: 'main', title: 'For it', assignee }], OPERATOR))).toBe(
      'validation_failed',
    )
    expect(await codeOf(edit(db, live.id, OPERATOR, { version: live.todo.version, assignee }))).toBe(
      'validation_failed',
    )
    expect(await codeOf(requeue(db, id, OPERATOR, { assignee }))).toBe('validation_failed')
    expect(await codeOf(requeue(db, id, OPERATOR))).toBe('invalid_state')
    const other = await agent()
    expect(await requeue(db, id, OPERATOR, { assignee: other.name })).toMatchObject({ assignee: other.name })
  })

  test('is found out by whoever assigns to it while it is being revoked', async () => {
    const worker = await agent()
    const revoker = await session()
    await revoker.query('BEGIN')
    await revoker.query('UPDATE endpoints SET revoked_at = now() WHERE id = $1', [worker.id])
    const enqueueing = codeOf(enqueue(db, [{ queue: 'main', title: 'For it', assignee: worker.name }], OPERATOR))
    const waits = () =>
      sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    await expect.poll(async () => (await waits()).length).toBe(1)
    await revoker.query('COMMIT')
    expect(await enqueueing).toBe('validation_failed')
  })

  test('loses what a claim took that slipped past its revocation, at no cost', async () => {
    const worker = await agent()
    await revokeEndpoint(db, worker.name)
    const { id } = await given(db, 'claimed', { worker })
    const asked = await given(db, 'input-required', { worker })
    await expireEndpoints(db)
    expect(await now(db, id)).toMatchObject({ state: 'pending', lease_expirations: 0, failures: 0 })
    expect(await lastEvent(id)).toMatchObject({ verb: 'requeued', reason: 'endpoint_revoked', actor: 'reaper' })
    expect(await now(db, asked.id)).toMatchObject({ state: 'input-required', owner: null })
    expect(await question(asked)).toEqual({ status: 'open', mode: 'park' })
  })
})
