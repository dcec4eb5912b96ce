import { beforeEach, describe, expect, test } from 'vitest'
import { startLive } from '#lib/live/live'
import { TERMINAL } from '#lib/model/states'
import { orderBulk } from '#lib/queue/bulk'
import { takeBulkBatch } from '#lib/queue/bulk-batch'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { enqueue } from '#lib/queue/enqueue'
import { release } from '#lib/queue/release'
import { boundByRows, type Forgotten } from '#lib/queue/retention'
import { putSetting } from '#lib/queue/setting-write'
import { createEndedTally } from '#worker/ended'
import { createRounds, keepRetention } from '#worker/retention'
import { database } from '../support/database'
import { child, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { recordedLog } from '../support/recorded-log'

const { db, sql, session } = database()
keepsInvariants(db)

const { log, lines } = recordedLog()
let forgotten: Forgotten[] = []
beforeEach(async () => {
  lines.length = 0
  forgotten = []
  await sql`TRUNCATE todos, todo_attempts, todo_events, settings, queues CASCADE`
})

const rounds = () =>
  createRounds(db, { log, signal: new AbortController().signal, forgot: (gone) => forgotten.push(...gone) })

const swept = () => rounds()()

const set = (key: string, value: number) =>
  sql`INSERT INTO settings (key, value) VALUES (${key}, ${String(value)}) ON CONFLICT (key) DO UPDATE SET value = excluded.value`

/** Lets a todo have ended so many days ago. */
const endedDaysAgo = (id: string, days: number) =>
  sql`UPDATE todos SET completed_at = now() - make_interval(days => ${days}) WHERE id = ${id}`

const kept = async () => (await sql<{ id: string }>`SELECT id FROM todos ORDER BY id`).map(({ id }) => id)

const ofTodo = async (id: string) =>
  (
    await sql<Record<string, number>>`SELECT (SELECT count(*) FROM todo_attempts WHERE todo_id = ${id}) AS attempts,
      (SELECT count(*) FROM interrupts WHERE todo_id = ${id}) AS interrupts,
      (SELECT count(*) FROM effects WHERE todo_id = ${id}) AS effects,
      (SELECT count(*) FROM todo_events WHERE todo_id = ${id}) AS events`
  )[0]

describe('by age', () => {
  test.each(TERMINAL)(
    'a todo that has ended goes after thirty days, with all that belongs to it: %s',
    async (state) => {
      const old = await given(db, state, { effect: {} })
      const young = await given(db, state)
      await sql`INSERT INTO interrupts (id, todo_id, attempt_seq, lease_epoch, kind, mode, status, title, requested_by_endpoint_id)
      VALUES (${old.id}, ${old.id}, 1, 1, 'input', 'park', 'canceled', 'Which?', 'worker')`
      await endedDaysAgo(old.id, 31)
      await endedDaysAgo(young.id, 29)
      expect(await swept()).toMatchObject({ todos: 1 })
      expect(await kept()).toEqual([young.id])
      expect(await ofTodo(old.id)).toEqual({ attempts: 0, interrupts: 0, effects: 0, events: 0 })
      expect(await ofTodo(young.id)).not.toMatchObject({ events: 0 })
      expect(forgotten).toEqual([{ id: old.id, queue: 'main', state }])
    },
  )

  test('what is live stays however old, and so do its children', async () => {
    for (const state of ['pending', 'claimed', 'input-required', 'auth-required'] as const) await given(db, state)
    const parent = await given(db, 'claimed')
    const part = await child(db, parent.held)
    const ended = await claimById(db, part.id, {}, WORKER)
    await complete(db, { id: part.id, leaseEpoch: ended.lease_epoch, endpointId: WORKER.id }, WORKER, null)
    await sql`UPDATE todos SET created_at = now() - interval '2 years', updated_at = now() - interval '2 years'`
    await endedDaysAgo(part.id, 400)
    const before = await kept()
    expect(await swept()).toMatchObject({ todos: 0 })
    expect(await kept()).toEqual(before)

    await complete(db, parent.held, WORKER, null)
    expect(await swept()).toMatchObject({ todos: 1 })
    expect(await kept()).not.toContain(part.id)
  })

  test('events without a todo go with the same age, those of todos with their todo only', async () => {
    const { id } = await given(db, 'pending')
    await sql`INSERT INTO todo_events (verb, actor, at) VALUES
      ('setting', 'user:ada', now() - interval '31 days'), ('setting', 'user:ada', now() - interval '29 days')`
    await sql`UPDATE todo_events SET at = now() - interval '90 days' WHERE todo_id = ${id}`
    expect(await swept()).toMatchObject({ notes: 1 })
    expect(await sql`SELECT 1 FROM todo_events WHERE todo_id IS NULL`).toHaveLength(1)
    expect(await sql`SELECT 1 FROM todo_events WHERE todo_id = ${id}`).toHaveLength(1)
  })

  test('nothing goes while it is turned off, and a change counts at once', async () => {
    const { id } = await given(db, 'completed')
    await endedDaysAgo(id, 4000)
    await sql`INSERT INTO todo_events (verb, actor, at) VALUES ('setting', 'user:ada', now() - interval '9 years')`
    await set('retention_max_age_days', 0)
    expect(await swept()).toEqual({ todos: 0, notes: 0, bulks: 0, crowded: 0 })
    await set('retention_max_age_days', 3650)
    expect(await swept()).toMatchObject({ todos: 1, notes: 0 })
  })
})

describe('by number', () => {
  const many = async (count: number) => {
    await sql`INSERT INTO todos (id, queue, title, state, max_attempts, lease_seconds, completed_at)
      SELECT 'ended-' || lpad(n::text, 6, '0'), 'main', 'Ended', 'completed', 3, 300, now() - n * interval '1 microsecond'
      FROM generate_series(1, ${count}::int) n`
    await sql`ANALYZE todos`
  }

  test('the newest stay, in batches, and none more than is allowed', async () => {
    await many(3500)
    await set('retention_max_rows', 1200)
    expect(await swept()).toMatchObject({ todos: 2300 })
    expect((await kept()).at(-1)).toBe('ended-001200')
    expect(await swept()).toMatchObject({ todos: 0 })
  })

  test('nothing goes while it is turned off', async () => {
    await many(50)
    await set('retention_max_rows', 0)
    expect(await swept()).toMatchObject({ todos: 0 })
    await set('retention_max_rows', 20)
    await set('retention_max_age_days', 0)
    expect(await swept()).toMatchObject({ todos: 30 })
  })

  test('live todos are not counted, and the later of both bounds counts', async () => {
    await many(10)
    for (let n = 0; n < 10; n++) await given(db, 'pending')
    await sql`UPDATE todos SET completed_at = now() - interval '40 days' WHERE id > 'ended-000004' AND state = 'completed'`
    await set('retention_max_rows', 8)
    expect(await swept()).toMatchObject({ todos: 6 })
    await set('retention_max_rows', 3)
    expect(await swept()).toMatchObject({ todos: 1 })
    expect(await kept()).toHaveLength(13)
  })

  test('what nobody has analyzed since it ended counts all the same', async () => {
    await sql`VACUUM ANALYZE todos`
    for (let n = 0; n < 5; n++) await given(db, 'completed')
    await set('retention_max_rows', 2)
    expect(await swept()).toMatchObject({ todos: 3 })
  })

  test('nobody goes over what has ended as long as that is surely fewer', async () => {
    await many(2000)
    const read = async () => {
      await sql`SELECT pg_stat_force_next_flush()`
      return Number(
        (await sql`SELECT idx_tup_read AS n FROM pg_stat_user_indexes WHERE indexrelname = 'todos_ended'`)[0]?.n,
      )
    }
    await read()
    const before = await read()
    expect(await boundByRows(db, 500_000)).toBeNull()
    expect((await read()) - before).toBe(0)
    expect(await boundByRows(db, 1999)).toMatchObject({ id: 'ended-002000' })
  })
})

describe('the attempts of a todo', () => {
  const claimedTimes = async (times: number) => {
    const { id } = await given(db, 'pending')
    for (let n = 0; n < times; n++) {
      const { lease_epoch } = await claimById(db, id, {}, WORKER)
      if (n < times - 1) await release(db, { id, leaseEpoch: lease_epoch, endpointId: WORKER.id }, WORKER)
    }
    return id
  }
  const seqs = async (id: string) =>
    (await sql<{ seq: number }>`SELECT seq FROM todo_attempts WHERE todo_id = ${id} ORDER BY seq`).map(({ seq }) => seq)

  test('are kept up to a number; the oldest that have ended go, live or not, and counters stay', async () => {
    const id = await claimedTimes(9)
    const few = await claimedTimes(6)
    await set('attempt_history_max_per_todo', 7)
    const before = await now(db, id)
    expect(await swept()).toMatchObject({ crowded: 1 })
    expect(await seqs(id)).toEqual([3, 4, 5, 6, 7, 8, 9])
    expect(await seqs(few)).toHaveLength(6)
    expect(await now(db, id)).toEqual(before)
    expect(await swept()).toMatchObject({ crowded: 0 })
    await set('attempt_history_max_per_todo', 1)
    expect(await swept()).toMatchObject({ crowded: 2 })
    expect([await seqs(id), await seqs(few)]).toEqual([
      [5, 6, 7, 8, 9],
      [2, 3, 4, 5, 6],
    ])
  })
})

describe('a row that cannot be deleted', () => {
  test('is logged and left alone, and stops no other', async () => {
    const ids: string[] = []
    for (let n = 0; n < 9; n++) ids.push((await given(db, 'completed')).id)
    for (const id of ids) await endedDaysAgo(id, 31)
    await db.query({
      text: `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`,
    })
    await db.query({
      text: `CREATE TRIGGER refuse BEFORE DELETE ON todos FOR EACH ROW WHEN (OLD.id = '${ids[4]}') EXECUTE FUNCTION refuse()`,
    })
    expect(await swept()).toMatchObject({ todos: 8 })
    expect(lines[0]).toMatchObject({ level: 50, todo_id: ids[4], sweep: 'forgetTodos' })
    expect(await kept()).toEqual([ids[4]])
    await db.query({ text: 'DROP TRIGGER refuse ON todos' })
    expect(await swept()).toMatchObject({ todos: 1 })
  })

  test('since somebody has it or its parent locked waits for the next round', async () => {
    const parent = await given(db, 'waiting')
    const [part] = await sql<{ id: string }>`SELECT id FROM todos WHERE parent_id = ${parent.id}`
    await cancel(db, parent.id, OPERATOR)
    await endedDaysAgo(part?.id ?? '', 31)
    const holder = await session()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM todos WHERE id = $1 FOR UPDATE', [parent.id])
    expect(await swept()).toMatchObject({ todos: 0 })
    await holder.query('ROLLBACK')
    expect(await swept()).toMatchObject({ todos: 1 })
  })
})

test('a worker keeps to it by itself, and at once when the setting changes', async () => {
  const live = await startLive(db, { pollMs: 50 })
  const stopping = new AbortController()
  const told: Forgotten[] = []
  const keeping = keepRetention(db, {
    live,
    isHealthy: () => true,
    forgot: (gone) => told.push(...gone),
    log,
    signal: stopping.signal,
  })
  const [one, two] = [await given(db, 'completed'), await given(db, 'completed')]
  await endedDaysAgo(one.id, 20)
  await endedDaysAgo(two.id, 5)
  await putSetting(db, 'retention_max_age_days', { value: '10', version: 0 }, OPERATOR)
  await expect.poll(() => told).toEqual([{ id: one.id, queue: 'main', state: 'completed' }])
  expect(await kept()).toEqual([two.id])
  stopping.abort()
  await keeping
  await live.stop()
})

test('the tally of what has ended follows what ends, goes back and is deleted', async () => {
  const tally = createEndedTally(db)
  await given(db, 'completed')
  const back = await given(db, 'failed')
  await tally.refresh()
  const counts = () => Object.fromEntries(tally.counts().map(({ queue, state, count }) => [`${queue} ${state}`, count]))
  expect(counts()).toEqual({ 'main completed': 1, 'main failed': 1 })
  const [clock] = await sql<{ later: string }>`SELECT now() + interval '1 s' AS later`
  const at = clock?.later ?? ''
  const [made] = await enqueue(db, [{ queue: 'other', title: 'Work' }], OPERATOR)
  tally.hear({ todo: made?.todo ?? null, from: 'claimed', to: 'rejected', at })
  tally.hear({ todo: back.todo, from: 'failed', to: 'pending', at })
  tally.hear({ todo: back.todo, from: 'claimed', to: 'failed', at: '2020-01-01T00:00:00.000Z' })
  tally.hear({ todo: null, from: 'claimed', to: 'failed', at })
  tally.forgot([{ id: 'x', queue: 'main', state: 'completed' }])
  expect(counts()).toEqual({ 'main completed': 0, 'main failed': 0, 'other rejected': 1 })
})

test('a bulk run goes by its age with its results, and one that has just ended stays', async () => {
  const order = async () => {
    const { id } = await given(db, 'pending')
    const { bulk_id } = await orderBulk(db, { action: 'cancel', ids: [id] }, OPERATOR)
    while ((await db.transaction((tx) => takeBulkBatch(tx, bulk_id, { limit: 10, tells: false }))) > 0);
    return bulk_id
  }
  const [old, young] = [await order(), await order()]
  await sql`UPDATE bulk_runs SET ended_at = now() - interval '31 days' WHERE id = ${old}`
  await set('retention_max_age_days', 0)
  expect(await swept()).toMatchObject({ bulks: 0 })
  await set('retention_max_age_days', 30)
  expect(await swept()).toMatchObject({ bulks: 2 })
  expect(await sql`SELECT id FROM bulk_runs`).toEqual([{ id: young }])
  expect(await sql`SELECT bulk_id FROM bulk_results`).toEqual([{ bulk_id: young }])
})
