import { expect, test } from 'vitest'
import { connect } from '#lib/db/connect'
import { claim } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { createSkips } from '#worker/skips'
import { tick } from '#worker/tick'
import { database } from '../support/database'
import { WORKER } from '../support/given'
import { invariants } from '../support/invariants'
import { times } from '../support/numbers'
import { recordedLog } from '../support/recorded-log'

const { db, sql, url } = database()
const { log } = recordedLog()

const MASS = times(2000, 100_000)
const SLOWDOWN = 5
const CLAIMERS = 4

test(`${MASS} leases that lapse at once are taken back in bounded batches, while others claim`, async () => {
  await claimed(MASS)
  await sql`INSERT INTO todos (id, queue, title, max_attempts, lease_seconds)
    SELECT 'open-' || n, 'open', 'Open', 3, 300 FROM generate_series(1, ${20 * MASS}::int) n WHERE n <= 200000`
  const reaper = connect({ databaseUrl: url, max: 2 })
  try {
    const quiet = await claimsUntil(after(500))
    await sql`UPDATE todos SET lease_expires_at = now() - interval '1 second' WHERE queue = 'lapsing'`
    const began = performance.now()
    const reclaiming = ticked(reaper).then((result) => ({ ...result, seconds: (performance.now() - began) / 1000 }))
    let isOver = false
    reclaiming.finally(() => {
      isOver = true
    })
    const meanwhile = await claimsUntil(() => isOver)
    const { expiries, seconds } = await reclaiming
    expect(expiries).toBe(MASS)
    const states =
      await sql`SELECT state, lease_expirations, count(*)::int AS n FROM todos WHERE queue = 'lapsing' GROUP BY 1, 2`
    expect(states).toEqual([{ state: 'pending', lease_expirations: 1, n: MASS }])
    expect(await invariants(db)).toEqual([])
    if (MASS < 100_000) return
    process.stdout.write(
      `${MASS} leases taken back in ${seconds.toFixed(1)} s; p95 of a claim ${quiet} ms before, ${meanwhile} ms meanwhile\n`,
    )
    expect(meanwhile).toBeLessThan(SLOWDOWN * quiet)
  } finally {
    await reaper.close()
  }
}, 300_000)

const ticked = (on: typeof db) =>
  tick({ database: on, skips: createSkips(), ranAt: new Map(), log, signal: new AbortController().signal })

async function claimed(count: number): Promise<void> {
  await sql`INSERT INTO queues (name) VALUES ('lapsing'), ('open')`
  await sql`INSERT INTO todos (id, queue, title, state, owner, owner_endpoint_id, lease_epoch, lease_expires_at, max_attempts, lease_seconds, attempts, claimed_at)
    SELECT 'lapsing-' || n, 'lapsing', 'Lapsing', 'claimed', 'worker-1/default', 'worker-1', 1, now() + interval '1 hour', 3, 300, 1, now()
    FROM generate_series(1, ${count}::int) n`
  await sql`INSERT INTO todo_attempts (todo_id, seq, lease_epoch, owner, endpoint_id)
    SELECT id, 1, 1, owner, owner_endpoint_id FROM todos WHERE queue = 'lapsing'`
  await sql`INSERT INTO todo_events (todo_id, queue, verb, from_state, to_state, actor, attempt_seq, lease_epoch)
    SELECT id, queue, 'claimed', 'pending', 'claimed', 'worker:' || owner, 1, 1 FROM todos WHERE queue = 'lapsing'`
}

function after(count: number): () => boolean {
  let done = 0
  return () => ++done > count
}

/** The 95th percentile of a claim's milliseconds, with so many at once who each claim and complete until told to stop. */
async function claimsUntil(isOver: () => boolean): Promise<number> {
  const took: number[] = []
  const claimer = async () => {
    while (!isOver()) {
      const began = performance.now()
      const [todo] = await claim(db, { queues: ['open'] }, WORKER)
      took.push(performance.now() - began)
      if (!todo) return
      await complete(db, { id: todo.id, leaseEpoch: todo.lease_epoch, endpointId: WORKER.id }, WORKER, null)
    }
  }
  await Promise.all(Array.from({ length: CLAIMERS }, claimer))
  took.sort((a, b) => a - b)
  return Math.round((took[Math.floor(took.length * 0.95)] ?? 0) * 100) / 100
}
