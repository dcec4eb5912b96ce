import { describe, expect, test } from 'vitest'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { complete, completeMany } from '#lib/queue/complete'
import { enqueue } from '#lib/queue/enqueue'
import { continueParents, expireDeadlines, expireLeases } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { heartbeat } from '#lib/queue/heartbeat'
import { release } from '#lib/queue/release'
import { requeue } from '#lib/queue/requeue'
import { wait } from '#lib/queue/wait'
import { endpoint, person } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { child, type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf, refusalOf } from '../support/refusal'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

const claimed = (): Promise<Given> => given(db, 'claimed')

async function started(id: string) {
  const { lease_epoch } = await claimById(db, id, {}, WORKER)
  return { id, leaseEpoch: lease_epoch, endpointId: WORKER.id }
}

const verbs = async (id: string) =>
  (await sql<{ verb: string }>`SELECT verb FROM todo_events WHERE todo_id = ${id} ORDER BY id`).map(({ verb }) => verb)

/** A parent that waits for so many children, which are claimed. */
async function family(count: number) {
  const parent = await claimed()
  const children = await Promise.all(Array.from({ length: count }, () => child(db, parent.held)))
  await wait(db, parent.held, WORKER, { checkpoint: { step: 1 } })
  return { parent, held: await Promise.all(children.map(({ id }) => started(id))) }
}

describe('a child', () => {
  test('is made by who holds its parent, one deeper, and counts as alive', async () => {
    const parent = await claimed()
    const made = await child(db, parent.held)
    expect(made).toMatchObject({ parent_id: parent.id, depth: 1, state: 'pending' })
    expect(await now(db, parent.id)).toMatchObject({ live_children: 1, version: parent.todo.version + 1 })
  })

  test('is one however often it is made under its key, also when it has ended', async () => {
    const parent = await claimed()
    const made = await child(db, parent.held, WORKER, { idempotency_key: 'one' })
    await complete(db, await started(made.id), WORKER, 1)
    const again = await child(db, parent.held, WORKER, { idempotency_key: 'one', queue: 'other' })
    expect(again).toMatchObject({ id: made.id, state: 'completed', queue: 'main' })
    expect(await now(db, parent.id)).toMatchObject({ live_children: 0 })
  })

  test('of one key made by twenty at once is one', async () => {
    const parent = await claimed()
    const make = () => child(db, parent.held, WORKER, { idempotency_key: 'same' })
    const made = await Promise.all(Array.from({ length: 20 }, make))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(await now(db, parent.id)).toMatchObject({ live_children: 1 })
  })

  test('may share its key with the child of another parent, and with a todo that has none', async () => {
    const [one, other] = [await claimed(), await claimed()]
    const keyed = { idempotency_key: 'shared' }
    const ids = [await child(db, one.held, WORKER, keyed), await child(db, other.held, WORKER, keyed)].map(
      ({ id }) => id,
    )
    const [alone] = await enqueue(db, [{ queue: 'main', title: 'Alone', ...keyed }], WORKER)
    expect(new Set([...ids, alone?.todo.id]).size).toBe(3)
  })

  test('of an unknown parent, of one in another queue, by a lost lease or without one is refused', async () => {
    const parent = await claimed()
    const make = (more: object, who = WORKER) => codeOf(enqueue(db, [{ queue: 'main', title: 'Part', ...more }], who))
    const { id } = parent
    expect(await make({ parent_id: '0192a000-0000-7000-8000-000000000000', parent_epoch: 1 })).toBe('not_found')
    const elsewhere = endpoint('elsewhere', { queues: ['other'] })
    expect(await make({ queue: 'other', parent_id: id, parent_epoch: 1 }, elsewhere)).toBe('not_found')
    expect(await make({ parent_id: id, parent_epoch: 0 })).toBe('lease_lost')
    expect(await make({ parent_id: id, parent_epoch: 1 }, endpoint('stranger'))).toBe('lease_lost')
    expect(await make({ parent_id: id }, endpoint('client', { scopes: ['enqueue'] }))).toBe('validation_failed')
    expect(await now(db, id)).toEqual(parent.todo)
  })

  test('is made by an operator without a lease, and never under a parent that has ended', async () => {
    const parent = await given(db, 'pending')
    const part = { queue: 'main', title: 'Part', parent_id: parent.id }
    await enqueue(db, [part], person('boss'))
    await cancel(db, parent.id, OPERATOR)
    expect(await codeOf(enqueue(db, [part], person('boss')))).toBe('invalid_state')
  })

  test('nests sixteen deep and no deeper', async () => {
    let held = (await claimed()).held
    for (let depth = 1; depth <= 16; depth++) held = await started((await child(db, held)).id)
    const refusal = await refusalOf(child(db, held))
    expect(refusal).toMatchObject({ code: 'validation_failed', facts: { errors: [{ pointer: '/parent_id' }] } })
  })

  test('is one of ten thousand alive at most, and the one too many names itself', async () => {
    const parent = await claimed()
    await sql`UPDATE todos SET live_children = 9999 WHERE id = ${parent.id}`
    const part = { queue: 'main', title: 'Part', parent_id: parent.id, parent_epoch: parent.held.leaseEpoch }
    const refusal = await refusalOf(enqueue(db, [part, part], WORKER))
    expect(refusal).toMatchObject({ code: 'validation_failed', facts: { errors: [{ pointer: '/todos/1/parent_id' }] } })
    await sql`UPDATE todos SET live_children = 0 WHERE id = ${parent.id}`
  })
})

describe('a parent', () => {
  test('waits without lease, and goes on once when its last child ends, at no cost', async () => {
    const { parent, held } = await family(2)
    expect(await now(db, parent.id)).toMatchObject({ state: 'waiting', owner: null, checkpoint: { step: 1 } })
    await complete(db, held[0] as never, WORKER, 1)
    expect(await now(db, parent.id)).toMatchObject({ state: 'waiting', live_children: 1 })
    await complete(db, held[1] as never, WORKER, 2)
    const todo = await now(db, parent.id)
    expect(todo).toMatchObject({ state: 'pending', live_children: 0, failures: 0, lease_expirations: 0, attempts: 1 })
    expect(await verbs(parent.id)).toEqual(['created', 'claimed', 'waiting', 'continued'])
    const attempts = await sql`SELECT outcome, disposition FROM todo_attempts WHERE todo_id = ${parent.id}`
    expect(attempts).toEqual([{ outcome: 'continued', disposition: 'requeued' }])
  })

  const ends: Record<string, (held: Given['held']) => Promise<unknown>> = {
    completes: (held) => complete(db, held, WORKER, null),
    'completes in a batch': (held) => completeMany(db, [{ ...held, result: 1 }], WORKER),
    fails: (held) => fail(db, held, WORKER, { error: { code: 'x', message: 'x' }, retryable: false }),
    'is canceled': (held) => cancel(db, held.id, OPERATOR),
    'loses its last lease': async (held) => {
      await sql`UPDATE todos SET max_attempts = 1 WHERE id = ${held.id}`
      await backdate(db, held.id, { lease_expires_at: 1 })
      await expireLeases(db)
    },
    'is past its deadline': async (held) => {
      await backdate(db, held.id, { deadline_at: 1 })
      await expireDeadlines(db)
    },
  }
  test.each(Object.entries(ends))('goes on when its child %s', async (_, end) => {
    const { parent, held } = await family(1)
    await end(held[0] as never)
    expect(await now(db, parent.id)).toMatchObject({ state: 'pending', live_children: 0 })
    expect((await verbs(parent.id)).filter((verb) => verb === 'continued')).toHaveLength(1)
  })

  test('goes on waiting while a child is only tried again', async () => {
    const { parent, held } = await family(1)
    const [lease] = held as [Given['held']]
    await fail(db, lease, WORKER, { error: { code: 'x', message: 'x' }, retryAfterSeconds: 0 })
    expect(await now(db, parent.id)).toMatchObject({ state: 'waiting', live_children: 1 })
    await release(db, await started(lease.id), WORKER)
    expect(await now(db, parent.id)).toMatchObject({ state: 'waiting', live_children: 1 })
  })

  test('has nothing to wait for without live children, and a repeated wait is one', async () => {
    const parent = await claimed()
    expect(await codeOf(wait(db, parent.held, WORKER))).toBe('no_children')
    const made = await child(db, parent.held)
    const first = await wait(db, parent.held, WORKER)
    expect(await wait(db, parent.held, WORKER)).toEqual(first)
    await complete(db, await started(made.id), WORKER, 1)
    expect(await wait(db, parent.held, WORKER)).toMatchObject({ state: 'pending' })
  })

  test('takes its live children with it, theirs too, however it ends', async () => {
    const { parent, held } = await family(2)
    const [first, second] = held as [Given['held'], Given['held']]
    const below = await child(db, first)
    await wait(db, first, WORKER)
    await complete(db, second, WORKER, 'done')
    await cancel(db, parent.id, OPERATOR)
    expect(await now(db, first.id)).toMatchObject({ state: 'canceled', live_children: 0 })
    expect(await now(db, below.id)).toMatchObject({ state: 'canceled', owner: null })
    expect(await now(db, second.id)).toMatchObject({ state: 'completed' })
    expect(await now(db, parent.id)).toMatchObject({ state: 'canceled', live_children: 0 })
    const [event] = await sql`SELECT actor, reason FROM todo_events WHERE todo_id = ${below.id} AND verb = 'canceled'`
    expect(event).toEqual({ actor: 'system', reason: 'parent_ended' })
  })

  test('that completes without waiting cancels what still runs for it', async () => {
    const parent = await claimed()
    const made = await child(db, parent.held)
    await complete(db, parent.held, WORKER, null)
    expect(await now(db, made.id)).toMatchObject({ state: 'canceled' })
  })

  test('and its child that lapse in one tick both do, the child first', async () => {
    const parent = await claimed()
    const made = await child(db, parent.held)
    await started(made.id)
    for (const id of [parent.id, made.id]) await backdate(db, id, { lease_expires_at: 1 })
    await sql`UPDATE todos SET max_attempts = 1 WHERE id = ${made.id}`
    await expireLeases(db)
    expect(await now(db, made.id)).toMatchObject({ state: 'failed' })
    expect(await now(db, parent.id)).toMatchObject({ state: 'pending', live_children: 0, lease_expirations: 1 })
  })

  test('of a child that is put back counts it again; one that has ended forbids it', async () => {
    const { parent, held } = await family(2)
    const [first] = held as [Given['held']]
    await cancel(db, first.id, OPERATOR)
    await requeue(db, first.id, OPERATOR)
    expect(await now(db, parent.id)).toMatchObject({ state: 'waiting', live_children: 2 })
    await cancel(db, parent.id, OPERATOR)
    expect(await codeOf(requeue(db, first.id, OPERATOR))).toBe('invalid_state')
  })

  test('that waits for nobody is continued by the reaper', async () => {
    const { parent, held } = await family(1)
    const [lease] = held as [Given['held']]
    // As no transition leaves it: the count is wrong.
    await sql`UPDATE todos SET live_children = 0 WHERE id = ${parent.id}`
    await continueParents(db)
    expect(await now(db, parent.id)).toMatchObject({ state: 'pending' })
    const [event] = await sql`SELECT actor FROM todo_events WHERE todo_id = ${parent.id} AND verb = 'continued'`
    expect(event).toEqual({ actor: 'reaper' })
    await sql`UPDATE todos SET live_children = 1 WHERE id = ${parent.id}`
    await complete(db, lease, WORKER, 1)
  })
})

test('three crashes between clean waits for children end the parent at the third, and not a moment before', async () => {
  const { id } = await given(db, 'pending')
  const count = async (verb: string) => (await verbs(id)).filter((one) => one === verb).length
  for (const crash of [1, 2, 3]) {
    for (let n = 0; n < 4; n++) {
      const held = await started(id)
      const part = await started((await child(db, held)).id)
      await wait(db, held, WORKER)
      await complete(db, part, WORKER, n)
      expect(await now(db, id)).toMatchObject({ state: 'pending', lease_expirations: crash - 1 })
    }
    const held = await started(id)
    await backdate(db, id, { lease_expires_at: 1 })
    await expireLeases(db)
    expect(await codeOf(heartbeat(db, held, WORKER))).toBe(crash < 3 ? 'lease_lost' : 'todo_terminal')
    expect(await now(db, id)).toMatchObject({ attempts: 5 * crash, lease_epoch: 5 * crash, lease_expirations: crash })
    if (crash < 3) await backdate(db, id, { available_at: 0 })
  }
  expect(await now(db, id)).toMatchObject({ state: 'failed', attempts: 15, error: { code: 'max_attempts_exceeded' } })
  expect([await count('failed'), await count('continued'), await count('requeued')]).toEqual([1, 12, 2])
})

describe('at the same moment', () => {
  const rounds = async (full: number, round: () => Promise<void>) => {
    for (let n = 0; n < times(Math.ceil(full / 20), full); n++) await round()
  }

  const wentOnOnce = async (id: string) => {
    expect(await now(db, id)).toMatchObject({ state: 'pending', live_children: 0 })
    expect((await verbs(id)).filter((verb) => verb === 'continued')).toHaveLength(1)
  }

  test('the last two children end one by one: the parent goes on once', () =>
    rounds(500, async () => {
      const { parent, held } = await family(2)
      await Promise.all(held.map((lease) => complete(db, lease, WORKER, 1)))
      await wentOnOnce(parent.id)
    }))

  test('the last two children end in one statement: the parent goes on once', () =>
    rounds(500, async () => {
      const { parent, held } = await family(2)
      expect(await completeMany(db, held, WORKER)).toEqual(held.map(({ id }) => ({ id, ok: true })))
      await wentOnOnce(parent.id)
    }))

  test('the last child ends while the parent begins to wait: it goes on, at once or once', () =>
    rounds(500, async () => {
      const parent = await claimed()
      const lease = await started((await child(db, parent.held)).id)
      const [code] = await Promise.all([codeOf(wait(db, parent.held, WORKER)), complete(db, lease, WORKER, 1)])
      if (code === null) return wentOnOnce(parent.id)
      expect(code).toBe('no_children')
      expect(await now(db, parent.id)).toMatchObject({ state: 'claimed', live_children: 0 })
    }))

  test('a waiting parent is canceled while its child completes: both end', () =>
    rounds(500, async () => {
      const { parent, held } = await family(1)
      const [lease] = held as [Given['held']]
      const [code] = await Promise.all([codeOf(complete(db, lease, WORKER, 1)), cancel(db, parent.id, OPERATOR)])
      expect(await now(db, lease.id)).toMatchObject({ state: code === null ? 'completed' : 'canceled' })
      expect(await now(db, parent.id)).toMatchObject({ state: 'canceled', live_children: 0 })
    }))

  test('a child is made while its parent completes: never one that nobody counts', () =>
    rounds(500, async () => {
      const parent = await claimed()
      const [code] = await Promise.all([codeOf(child(db, parent.held)), complete(db, parent.held, WORKER, 1)])
      expect(code === null || code === 'invalid_state').toBe(true)
      const alive = await sql`SELECT id FROM todos WHERE parent_id = ${parent.id} AND completed_at IS NULL`
      expect(alive).toEqual([])
    }))

  test('sixteen children of one parent end together: it goes on once', () =>
    rounds(40, async () => {
      const { parent, held } = await family(16)
      await Promise.all(
        held.map((lease, n) => (n % 2 ? complete(db, lease, WORKER, 1) : cancel(db, lease.id, OPERATOR))),
      )
      await wentOnOnce(parent.id)
    }))
})
