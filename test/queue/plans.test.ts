import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '#lib/db/connect'
import { answer } from '#lib/queue/answer'
import { beginEffect } from '#lib/queue/begin-effect'
import { claim } from '#lib/queue/claim'
import { enqueue } from '#lib/queue/enqueue'
import {
  continueParents,
  exhaust,
  expireBudgets,
  expireDeadlines,
  expireInterrupts,
  expireLeases,
  expireParked,
  type WaitTtls,
} from '#lib/queue/expire'
import { expireEndpoints } from '#lib/queue/expire-endpoints'
import { heartbeatMany } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import type { Moved } from '#lib/queue/moved'
import { listTodos } from '#lib/queue/read-todos'
import { boundByRows, forgetNotes, forgetTodos, laterBound, pruneAttempts } from '#lib/queue/retention'
import { revokeEndpoint } from '#lib/queue/revoke'
import { settleEffect } from '#lib/queue/settle-effect'
import { argumentsHash } from '#lib/wire/arguments-hash'
import type { PromptSchema } from '#lib/wire/prompt-schema'
import { readClocks } from '#worker/clocks'
import { approver, registered } from '../support/callers'
import { database } from '../support/database'
import { given, OPERATOR, WORKER } from '../support/given'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'
import { type Act, DAY, EFFECT_VERBS, HOLDER_VERBS, OTHER_VERBS } from '../support/verbs'

const { sql, url } = database()

const FINISHED = times(5000, 200_000)
const PENDING = 1000

// One connection does all that is measured and what leads to it: others' reads are counted whenever they come to say so.
const one = connect({ databaseUrl: url, max: 1 })

beforeAll(async () => {
  await sql`INSERT INTO queues (name, max_claimed) VALUES ('open', NULL), ('limited', 500)`
  await sql`INSERT INTO todos (id, queue, title, state, max_attempts, lease_seconds, completed_at)
    SELECT 'finished-' || n, 'open', 'Finished', 'completed', 3, 300, now() FROM generate_series(1, ${FINISHED}::int) n`
  await sql`INSERT INTO todos (id, queue, title, max_attempts, lease_seconds)
    SELECT 'pending-' || n, CASE WHEN n % 2 = 0 THEN 'open' ELSE 'limited' END, 'Pending', 3, 300
    FROM generate_series(1, ${PENDING}) n`
  await sql`INSERT INTO todo_attempts (todo_id, seq, lease_epoch, owner, endpoint_id, ended_at, outcome, disposition)
    SELECT 'finished-' || n, 1, 1, 'worker', 'worker', now(), 'completed', 'done' FROM generate_series(1, ${FINISHED}::int) n`
  await sql`INSERT INTO interrupts (id, todo_id, attempt_seq, lease_epoch, kind, mode, status, title, requested_by_endpoint_id)
    SELECT 'asked-' || n, 'finished-' || n, 1, 1, 'input', 'park', 'canceled', 'Which?', 'worker' FROM generate_series(1, ${FINISHED}::int) n`
  await sql`INSERT INTO effects (id, todo_id, key, idempotent, status, lease_epoch, endpoint_id, ended_at)
    SELECT 'effect-' || n, 'finished-' || n, 'pay', false, 'confirmed', 1, 'worker', now() FROM generate_series(1, ${FINISHED}::int) n`
  await sql`INSERT INTO todo_events (todo_id, queue, verb, actor)
    SELECT 'finished-' || n, 'open', 'effect_begun', 'worker' FROM generate_series(1, ${FINISHED}::int) n`
  await sql`ANALYZE`
})

afterAll(() => one.close())

/** How many rows of todos and what belongs to them were read while `act` ran: one after the other, and by an index. */
async function reads(act: () => Promise<unknown>): Promise<{ scanned: number; looked_up: number }> {
  const before = await counted()
  await act()
  const after = await counted()
  return { scanned: after.scanned - before.scanned, looked_up: after.looked_up - before.looked_up }
}

async function counted(): Promise<{ scanned: number; looked_up: number }> {
  await one.query({ text: 'SELECT pg_stat_force_next_flush()' })
  await one.query({ text: 'SELECT pg_stat_clear_snapshot()' })
  const [row] = await one.query<{ scanned: number; looked_up: number }>({
    text: `SELECT sum(seq_tup_read)::int AS scanned, sum(idx_tup_fetch)::int AS looked_up FROM pg_stat_user_tables
      WHERE relname IN ('todos', 'todo_attempts', 'interrupts', 'effects', 'todo_events')`,
  })
  return row ?? { scanned: 0, looked_up: 0 }
}

const FEW = 60

async function forget(days: number): Promise<unknown> {
  const bound = await laterBound(one, days, null)
  return bound && forgetTodos(one, bound)
}

const WHOLE: [string, () => Promise<unknown>][] = [
  ['claim from one queue', () => claim(one, { queues: ['open'] }, WORKER)],
  ['claim from a limited queue', () => claim(one, { queues: ['limited'] }, WORKER)],
  ['claim from all queues', () => claim(one, { limit: 3 }, WORKER)],
  ['claim under a request id', () => claim(one, { queues: ['open'], requestId: 'r1' }, WORKER)],
  ['enqueue', () => enqueue(one, [{ queue: 'open', title: 'New' }], OPERATOR)],
  ['enqueue under a key', () => enqueue(one, [{ queue: 'open', title: 'New', idempotency_key: 'k' }], OPERATOR)],
  ['sweep of leases', () => expireLeases(one)],
  ['sweep of questions', () => expireInterrupts(one, { ttlSeconds: DAY })],
  ['sweep of parked questions', () => expireParked(one, { ttlSeconds: DAY })],
  ['sweep of used-up todos', () => exhaust(one)],
  ['sweep of deadlines', () => expireDeadlines(one)],
  ['sweep of parents that wait for nobody', () => continueParents(one)],
  ['sweep of used-up time', () => expireBudgets(one)],
  ['sweep of endpoints', () => expireEndpoints(one)],
  ['look at the clocks', () => readClocks(one, { ttls: { held: DAY, parked: DAY }, except: [], since: null })],
  ['retention with nothing that is too old', () => forget(30)],
  ['retention with nothing that is too much', () => boundByRows(one, 500_000)],
  ['retention of events without a todo', () => forgetNotes(one, 30)],
  ['retention of attempts', () => pruneAttempts(one, 50)],
  [
    'beats of a lost lease',
    () => heartbeatMany(one, [{ id: 'finished-7', leaseEpoch: 1, endpointId: 'worker' }], WORKER),
  ],
]

test.each(WHOLE)('however many todos have finished, few rows are read: %s', async (_, act) => {
  await act()
  const { scanned, looked_up } = await reads(act)
  expect(scanned).toBeLessThan(FEW)
  expect(looked_up).toBeLessThan(FEW)
})

test('the first page of what ended last reads that page, however much has ended', async () => {
  const page = () => listTodos(one, { state: ['completed', 'failed'], sort: 'ended', limit: 10 }, OPERATOR)
  const listed = await page()
  expect(listed.todos).toHaveLength(10)
  const counted = () => listTodos(one, { state: ['rejected'], limit: 10 }, OPERATOR)
  const [whole, counts] = [await reads(page), await reads(counted)]
  expect(whole.looked_up - counts.looked_up).toBeLessThan(FEW)
  expect(whole.scanned).toBe(counts.scanned)
})

const VERBS: [string, Act][] = Object.entries({ ...HOLDER_VERBS, ...OTHER_VERBS, ...EFFECT_VERBS })

test.each(VERBS)('and so it is with the verbs on one todo: %s', async (verb, act) => {
  for (const state of ['claimed', 'input-required', 'failed', 'pending'] as const) {
    const todo = await given(one, state, { todo: { queue: 'open' }, ...(verb in EFFECT_VERBS && { effect: {} }) })
    const { scanned, looked_up } = await reads(() => act(one, todo).catch(() => {}))
    expect(scanned).toBeLessThan(FEW)
    expect(looked_up).toBeLessThan(FEW)
  }
})

test('nor are they read by a begin under an approval, an answer about an effect, or the end of a parked question', async () => {
  const boss = await approver(one)
  const arguments_hash = await argumentsHash(null)
  const { held, id } = await given(one, 'claimed', { todo: { queue: 'open' } })
  const ask = { kind: 'approval', title: 'May I?', risk: 'low', proposal: { action: 'pay' } } as const
  const { interrupt: approval } = await interrupt(one, held, WORKER, ask)
  const schema: PromptSchema = { type: 'object', properties: { happened: { type: 'boolean' } }, required: ['happened'] }
  const doubt = { kind: 'input', title: 'Did it?', risk: 'low', effect_key: 'pay', schema } as const
  const acts = [
    () => answer(one, approval.id, boss, { action: 'accept' }),
    () => beginEffect(one, held, WORKER, { key: 'pay', idempotent: false, arguments_hash, interrupt_id: approval.id }),
    () =>
      codeOf(beginEffect(one, held, WORKER, { key: 'x', idempotent: true, arguments_hash, interrupt_id: approval.id })),
    () => interrupt(one, held, WORKER, { ...doubt, mode: 'park' }),
    () => settleEffect(one, id, boss, { key: 'pay', happened: true, comment: 'Seen' }),
  ]
  for (const act of acts) {
    const { scanned, looked_up } = await reads(act)
    expect(scanned).toBeLessThan(FEW)
    expect(looked_up).toBeLessThan(FEW)
  }
})

test('nor by the end of an endpoint, or a sweep that watches one: only what it has', async () => {
  const worker = await registered(one, 'leaver')
  await given(one, 'claimed', { worker, todo: { queue: 'open' } })
  await given(one, 'pending', { todo: { queue: 'open', assignee: worker.name } })
  const [held] = await sql<{
    n: number
  }>`SELECT count(*) AS n FROM todos WHERE owner IS NOT NULL OR interrupted_at IS NOT NULL`
  for (const act of [() => revokeEndpoint(one, worker.name), () => expireEndpoints(one)]) {
    const { scanned, looked_up } = await reads(act)
    // By an owner the few that are held are looked through.
    expect(scanned + looked_up).toBeLessThan(FEW + 2 * (held?.n ?? 0))
  }
})

test('a batch of retention reads what it deletes, not what stays', async () => {
  await sql`UPDATE todos SET completed_at = now() - interval '40 days' WHERE id IN ('finished-1', 'finished-2')`
  const { scanned, looked_up } = await reads(() => forget(30))
  expect(scanned).toBeLessThan(FEW)
  expect(looked_up).toBeLessThan(FEW)
  expect(await sql`SELECT 1 FROM todos WHERE id IN ('finished-1', 'finished-2')`).toEqual([])
})

test('a sweep looks a second time only at todos with a family', async () => {
  await sql`INSERT INTO todos (id, queue, title, state, owner, owner_endpoint_id, lease_expires_at, max_attempts, lease_seconds, attempts)
    SELECT 'claimed-' || n, 'open', 'Claimed', 'claimed', 'worker', 'worker', now() + interval '1 hour', 3, 300, 1
    FROM generate_series(1, 2000) n`
  await sql`ANALYZE todos`
  await expireLeases(one)
  const { looked_up, scanned } = await reads(() => expireLeases(one))
  expect(looked_up + scanned).toBeLessThan(2000 + FEW)
})

describe('however many questions wait', () => {
  const MANY = times(3000, 100_000)

  /** Waiting rows put down as they would lie there, asked so many seconds ago, and given more time till then if any. */
  const waiting = (prefix: string, { rows, seconds, owner, until }: Waiting) =>
    sql`INSERT INTO todos (id, queue, title, state, owner, owner_endpoint_id, lease_expires_at, interrupted_at,
        open_interrupt_id, wait_until, max_attempts, lease_seconds, attempts, lease_epoch)
      SELECT ${prefix}::text || n, 'open', 'Waits', 'input-required', ${owner}::text, ${owner}::text,
        CASE WHEN ${owner}::text IS NOT NULL THEN now() END, now() - make_interval(secs => ${seconds}),
        ${prefix}::text || n, now() + make_interval(secs => ${until ?? null}), 3, 300, 1, 1 FROM generate_series(1, ${rows}::int) n`

  interface Waiting {
    rows: number
    seconds: number
    owner: string | null
    until?: number
  }

  // The many are older than either deadline, so that only their kind keeps them out.
  const KINDS: [string, string | null, (ttlSeconds: number) => Promise<Moved[]>, (ttlSeconds: number) => object][] = [
    ['held', 'worker', (ttlSeconds) => expireInterrupts(one, { ttlSeconds }), (held) => ({ held, parked: 0 })],
    ['parked', null, (ttlSeconds) => expireParked(one, { ttlSeconds }), (parked) => ({ held: 0, parked })],
  ]

  test.each(KINDS)(
    'a sweep of %s ones reads those it takes, and the clocks next to none',
    async (_, owner, sweep, ttls) => {
      await sql`DELETE FROM todos WHERE id LIKE ANY ('{claimed-%,other-%,young-%,extended-%,old-%}')`
      await waiting('other-', { rows: MANY, seconds: 10 * DAY, owner: owner === null ? 'worker' : null })
      await waiting('young-', { rows: MANY, seconds: DAY / 2, owner })
      await waiting('extended-', { rows: 5, seconds: 2 * DAY, owner, until: 3600 })
      await waiting('old-', { rows: 10, seconds: 2 * DAY, owner })
      await sql`ANALYZE todos`
      for (const nothing of [await reads(() => sweep(20 * DAY)), await reads(() => sweep(20 * DAY))]) {
        expect(nothing.looked_up + nothing.scanned).toBeLessThan(FEW)
      }
      const look = { ttls: ttls(DAY) as WaitTtls, except: [], since: null }
      await readClocks(one, look)
      const clocks = await reads(() => readClocks(one, look))
      expect(clocks.looked_up + clocks.scanned).toBeLessThan(2 * FEW)
      let moved = 0
      const swept = await reads(async () => {
        moved = (await sweep(DAY)).length
      })
      expect(moved).toBe(10)
      expect(swept.looked_up + swept.scanned).toBeLessThan(2 * FEW)
    },
  )
})
