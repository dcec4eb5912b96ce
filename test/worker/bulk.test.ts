import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connect } from '#lib/db/connect'
import { startLive } from '#lib/live/live'
import { cancelBulk, orderBulk } from '#lib/queue/bulk'
import { claim } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { enqueue } from '#lib/queue/enqueue'
import { readBulk } from '#lib/queue/read-bulk'
import { startBulks } from '#worker/bulk'
import { database } from '../support/database'
import { freePort } from '../support/free-port'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { invariants } from '../support/invariants'
import { times } from '../support/numbers'
import { recordedLog } from '../support/recorded-log'

const { db, sql, url } = database()

const ends: (() => Promise<unknown>)[] = []
beforeEach(() => sql`TRUNCATE todos, todo_attempts, todo_events, bulk_runs, queues CASCADE`)
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** What carries bulk runs out, on connections of its own, and its log. */
async function working() {
  const own = connect({ databaseUrl: url, max: 4 })
  const live = await startLive(own, { retryMs: 20, pollDeafMs: 20 })
  const { log, lines } = recordedLog()
  const bulks = startBulks(own, { live, log })
  ends.push(own.close, live.stop, bulks.stop)
  return lines
}

const PATIENT = { timeout: 30_000 }
const statusOf = async (id: string) => (await readBulk(db, id, OPERATOR)).status

async function pending(count: number, queue = 'bulk'): Promise<void> {
  const todos = (from: number) =>
    Array.from({ length: Math.min(1000, count - from) }, (_, n) => ({ queue, title: `Todo ${from + n}` }))
  for (let from = 0; from < count; from += 1000) await enqueue(db, todos(from), OPERATOR)
}

const countOf = async (state: string): Promise<number> => {
  const [row] = await sql<{ n: number }>`SELECT count(*)::int AS n FROM todos WHERE state = ${state}`
  return row?.n ?? 0
}

test('a run begins when it is ordered, and what was ordered while nobody worked when somebody comes', async () => {
  await pending(3)
  const before = await orderBulk(db, { action: 'cancel', filter: { queue: 'bulk' } }, OPERATOR)
  await working()
  await expect.poll(() => statusOf(before.bulk_id), PATIENT).toBe('completed')
  await pending(3)
  const after = await orderBulk(db, { action: 'reject', filter: { queue: 'bulk' } }, OPERATOR)
  await expect.poll(() => statusOf(after.bulk_id), { timeout: 2000 }).toBe('completed')
  expect([await countOf('canceled'), await countOf('rejected')]).toEqual([3, 3])
})

test('a todo that cannot be moved is left out and logged, and stops no other', async () => {
  const all = []
  for (let n = 0; n < 5; n++) all.push(await given(db, 'pending'))
  const poisoned = all[2]?.id ?? ''
  await db.query({
    text: `CREATE FUNCTION refuse_bulk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`,
  })
  await db.query({
    text: `CREATE TRIGGER refuse_bulk BEFORE UPDATE ON todos FOR EACH ROW WHEN (OLD.id = '${poisoned}') EXECUTE FUNCTION refuse_bulk()`,
  })
  try {
    const lines = await working()
    const { bulk_id } = await orderBulk(db, { action: 'cancel', ids: all.map(({ id }) => id) }, OPERATOR)
    await expect.poll(() => statusOf(bulk_id), PATIENT).toBe('completed')
    expect(await readBulk(db, bulk_id, OPERATOR)).toMatchObject({ done: 4, failed: 1 })
    const failed = await sql`SELECT todo_id, code FROM bulk_results WHERE code IS NOT NULL`
    expect(failed).toEqual([{ todo_id: poisoned, code: 'internal' }])
    expect((await now(db, poisoned)).state).toBe('pending')
    expect(lines).toEqual([expect.objectContaining({ level: 50, todo_id: poisoned, bulk_id })])
  } finally {
    await db.query({ text: 'DROP FUNCTION refuse_bulk CASCADE' })
  }
})

test('two workers and two runs: each todo is done once, and both runs go on at the same time', async () => {
  await pending(1200)
  await pending(1200, 'other')
  const order = (queue: string) => orderBulk(db, { action: 'cancel', filter: { queue } }, OPERATOR)
  const runs = [await order('bulk'), await order('other')]
  await working()
  await working()
  for (const { bulk_id } of runs) {
    await expect.poll(() => statusOf(bulk_id), PATIENT).toBe('completed')
    expect(await readBulk(db, bulk_id, OPERATOR)).toMatchObject({ done: 1200, failed: 0 })
  }
  expect(await sql`SELECT todo_id FROM todo_events WHERE verb = 'canceled' GROUP BY 1 HAVING count(*) > 1`).toEqual([])
  expect(await countOf('canceled')).toBe(2400)
  expect(await invariants(db)).toEqual([])
})

test('killed midway and started again, it goes on where it was: no todo twice, each with its result', async () => {
  const count = times(4000, 20_000)
  await pending(count)
  const { bulk_id } = await orderBulk(db, { action: 'cancel', filter: { queue: 'bulk' } }, OPERATOR)
  const first = await workerProcess()
  await expect.poll(() => countOf('canceled'), { ...PATIENT, interval: 5 }).toBeGreaterThan(0)
  first.kill('SIGKILL')
  await once(first, 'exit')
  const midway = await readBulk(db, bulk_id, OPERATOR)
  expect(midway).toMatchObject({ status: 'running', done: await countOf('canceled') })
  await workerProcess()
  await expect.poll(() => statusOf(bulk_id), PATIENT).toBe('completed')
  expect(await readBulk(db, bulk_id, OPERATOR)).toMatchObject({ done: count, failed: 0 })
  const [results] = await sql`SELECT count(*)::int AS n FROM bulk_results WHERE at IS NOT NULL AND code IS NULL`
  expect(results?.n).toBe(count)
  expect(await sql`SELECT todo_id FROM todo_events WHERE verb = 'canceled' GROUP BY 1 HAVING count(*) > 1`).toEqual([])
  expect(await invariants(db)).toEqual([])
})

async function workerProcess(): Promise<ChildProcess> {
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production' as const,
    DATABASE_URL: url,
    SWITCHBOARD_PORT: String(await freePort()),
    SWITCHBOARD_LOG_LEVEL: 'fatal',
  }
  const child = spawn(process.execPath, ['--import', 'tsx', 'worker/main.ts'], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  ends.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  })
  return child
}

const MASS = times(3000, 100_000)
const SLOWDOWN = 5

test(`a run over ${MASS} todos shows how far it is, may be stopped, and leaves claims their speed`, async () => {
  await sql`INSERT INTO queues (name) VALUES ('bulk'), ('open')`
  await sql`INSERT INTO todos (id, queue, title, max_attempts, lease_seconds)
    SELECT gen_random_uuid()::text, CASE WHEN n <= ${MASS}::int THEN 'bulk' ELSE 'open' END, 'Todo', 3, 300
    FROM generate_series(1, ${MASS}::int + 60000) n`
  await sql`INSERT INTO todo_events (todo_id, queue, verb, to_state, actor) SELECT id, queue, 'created', 'pending', 'system' FROM todos`
  await sql`ANALYZE todos`
  const quiet = await claimsWhile(300)
  await working()
  const began = performance.now()
  const { bulk_id, matched } = await orderBulk(db, { action: 'cancel', filter: { queue: 'bulk' } }, OPERATOR)
  expect(matched).toBe(MASS)
  const orderedMs = performance.now() - began
  const steps = new Set<number>()
  let isOver = false
  const meanwhile = claimsWhile(() => !isOver)
  await expect
    .poll(
      async () => {
        const { status, done } = await readBulk(db, bulk_id, OPERATOR)
        steps.add(done)
        return status
      },
      { timeout: 300_000, interval: 50 },
    )
    .toBe('completed')
  const seconds = (performance.now() - began) / 1000
  isOver = true
  const slow = await meanwhile
  expect(await countOf('canceled')).toBe(MASS)
  expect(steps.size).toBeGreaterThan(2)
  if (MASS < 100_000) return
  const p95 = `p95 of a claim ${quiet.toFixed(2)} ms before, ${slow.toFixed(2)} ms meanwhile`
  process.stdout.write(
    `${MASS} todos canceled in ${seconds.toFixed(1)} s, ordered in ${orderedMs.toFixed(0)} ms; ${p95}\n`,
  )
  expect(slow).toBeLessThan(SLOWDOWN * quiet)
}, 600_000)

/** The 95th percentile of a claim's milliseconds, of four at once, so many times or as long as told. */
async function claimsWhile(goesOn: number | (() => boolean)): Promise<number> {
  let left = typeof goesOn === 'number' ? goesOn : Number.POSITIVE_INFINITY
  const took: number[] = []
  const claimer = async () => {
    while (left-- > 0 && (typeof goesOn === 'number' || goesOn())) {
      const began = performance.now()
      const [todo] = await claim(db, { queues: ['open'] }, WORKER)
      took.push(performance.now() - began)
      if (!todo) return
      await complete(db, { id: todo.id, leaseEpoch: todo.lease_epoch, endpointId: WORKER.id }, WORKER, null)
    }
  }
  await Promise.all([claimer(), claimer(), claimer(), claimer()])
  took.sort((a, b) => a - b)
  return took[Math.floor(took.length * 0.95)] ?? 0
}

test('a run that is stopped stops before its next batch', async () => {
  await pending(3000)
  const { bulk_id } = await orderBulk(db, { action: 'cancel', filter: { queue: 'bulk' } }, OPERATOR)
  await cancelBulk(db, bulk_id, OPERATOR)
  await working()
  await pending(1, 'last')
  const last = await orderBulk(db, { action: 'cancel', filter: { queue: 'last' } }, OPERATOR)
  await expect.poll(() => statusOf(last.bulk_id), PATIENT).toBe('completed')
  expect(await readBulk(db, bulk_id, OPERATOR)).toMatchObject({ status: 'canceled', done: 0 })
  expect(await countOf('pending')).toBe(3000)
})
