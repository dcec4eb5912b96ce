import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isTerminal, type State } from '#lib/model/states'
import { claim } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import {
  continueParents,
  exhaust,
  expireBudgets,
  expireDeadlines,
  expireInterrupts,
  expireLeases,
  expireParked,
} from '#lib/queue/expire'
import { expireEndpoints } from '#lib/queue/expire-endpoints'
import { revokeEndpoint } from '#lib/queue/revoke'
import { database } from '../support/database'
import { WORKER } from '../support/given'
import { invariants, keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'
import { anyStep, createWorld, type Step, take, type World } from '../support/walk'

const { db, sql } = database()
keepsInvariants(db)

interface Counters {
  id: string
  state: State
  attempts: number
  lease_epoch: number
  failures: number
  lease_expirations: number
  wait_expirations: number
  version: number
}

const counters = async () => new Map((await sql<Counters>`SELECT * FROM todos`).map((row) => [row.id, row]))

const NEVER_LESS = ['attempts', 'lease_epoch', 'failures', 'lease_expirations', 'wait_expirations', 'version'] as const

/** No counter went down, none moved without its claim or its loss, and what had ended was left by a requeue only. */
function movedOn(before: Map<string, Counters>, after: Map<string, Counters>, steps: Step[]): void {
  for (const [id, was] of before) {
    const is = after.get(id)
    if (!is) {
      expect(steps.some(({ act }) => act === 'forget')).toBe(true)
      continue
    }
    for (const counter of NEVER_LESS) expect(is[counter], counter).toBeGreaterThanOrEqual(was[counter])
    expect(is.attempts - was.attempts).toBe(is.lease_epoch - was.lease_epoch)
    const left = isTerminal(was.state) && is.version > was.version
    expect(left && !steps.some(({ act }) => act === 'requeue')).toBe(false)
  }
}

/** Lets the clock run and one worker work: whatever is live must come to an end, without any client or person. */
async function settle({ workers }: World): Promise<void> {
  for (const { name } of workers) await revokeEndpoint(db, name)
  for (let round = 0; round < 20; round++) {
    await sql`UPDATE todos SET lease_expires_at = now() - interval '1 s' WHERE owner IS NOT NULL`
    await sql`UPDATE todos SET interrupted_at = now() - interval '1 day 1 s' WHERE interrupted_at IS NOT NULL`
    await expireDeadlines(db)
    await expireLeases(db)
    await expireInterrupts(db, { ttlSeconds: 86_400 })
    await expireParked(db, { ttlSeconds: 86_400 })
    await exhaust(db)
    await expireBudgets(db)
    await expireEndpoints(db)
    await continueParents(db)
    await sql`UPDATE todos SET available_at = now() WHERE state = 'pending'`
    for (const { id, lease_epoch: leaseEpoch } of await claim(db, { limit: 100 }, WORKER)) {
      // Refused where its parent has just been completed, and it with that been canceled.
      await codeOf(complete(db, { id, leaseEpoch, endpointId: WORKER.id }, WORKER, null))
    }
  }
  expect(await sql`SELECT id, state FROM todos WHERE completed_at IS NULL`).toEqual([])
}

const moments = fc.array(fc.array(anyStep, { minLength: 1, maxLength: 4 }), {
  minLength: 30,
  maxLength: 60,
  size: 'max',
})

test('whatever several actors do, in any order and at once, the rules hold and nothing is stranded', {
  timeout: times(60_000, 1_200_000),
}, async () => {
  const walk = fc.asyncProperty(moments, async (steps) => {
    await sql`TRUNCATE todos, todo_attempts, todo_events, interrupts, effects, queues, endpoints`
    const world = await createWorld(db)
    for (const together of steps) {
      const before = await counters()
      await Promise.all(together.map((step) => take(world, step)))
      expect(await invariants(db)).toEqual([])
      movedOn(before, await counters(), together)
    }
    await settle(world)
  })
  // Not shrunk: a walk that fails is played again by the seed and path it is reported with.
  await fc.assert(walk, { numRuns: times(6, 300), endOnFailure: true })
})
