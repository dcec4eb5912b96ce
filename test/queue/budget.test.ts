import { describe, expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { claimById } from '#lib/queue/claim'
import { complete, completeMany } from '#lib/queue/complete'
import { expireBudgets } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { heartbeat, heartbeatMany } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { requeue } from '#lib/queue/requeue'
import type { Usage } from '#lib/queue/usage'
import { wait } from '#lib/queue/wait'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { child, type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf, refusalOf } from '../support/refusal'
import { PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const budgeted = (budget: object) => given(db, 'claimed', { todo: { budget } })

const QUESTION = { kind: 'input', title: 'Which one?', risk: 'low' } as const
const BROKEN = { error: { code: 'broken', message: 'It broke' }, retryAfterSeconds: 0 }

/** Everything that may carry a report and doesn't complete. */
const REPORTS: Record<string, (todo: Given, usage: Usage) => Promise<unknown>> = {
  heartbeat: ({ held }, usage) => heartbeat(db, { ...held, usage }, WORKER),
  heartbeatMany: ({ held }, usage) => heartbeatMany(db, [{ ...held, usage }], WORKER),
  fail: ({ held }, usage) => fail(db, held, WORKER, { ...BROKEN, usage }),
  release: ({ held }, usage) => release(db, held, WORKER, { usage }),
  interrupt: ({ held }, usage) => interrupt(db, held, WORKER, { ...QUESTION, usage }),
  wait: ({ held }, usage) => wait(db, held, WORKER, { usage }),
}

describe('what a worker reports', () => {
  test('is a total of its claim: said again it adds nothing, less adds nothing, the next claim begins at nothing', async () => {
    const todo = await budgeted({ max_tokens: 1000 })
    await heartbeat(db, { ...todo.held, usage: { tokens: 100, cost_usd: 0.5 } }, WORKER)
    await heartbeat(db, { ...todo.held, usage: { tokens: 100 } }, WORKER)
    await heartbeat(db, { ...todo.held, usage: { tokens: 60 } }, WORKER)
    expect(await now(db, todo.id)).toMatchObject({
      usage: { claim: { tokens: 100, cost_usd: 0.5 }, total: { tokens: 100, cost_usd: 0.5 } },
    })
    await release(db, todo.held, WORKER, { usage: { tokens: 150 } })
    const again = await claimById(db, todo.id, {}, WORKER)
    expect(again.usage).toMatchObject({ claim: { tokens: 0, cost_usd: 0 }, total: { tokens: 150, cost_usd: 0.5 } })
    const held = { ...todo.held, leaseEpoch: again.lease_epoch }
    await completeMany(db, [{ ...held, usage: { tokens: 25 } }], WORKER)
    expect(await now(db, todo.id)).toMatchObject({ state: 'completed', usage: { total: { tokens: 175 } } })
  })

  test.each(Object.entries(REPORTS))('with %s beyond the budget fails the todo instead', async (_, report) => {
    const todo = await budgeted({ max_cost_usd: 1 })
    await child(db, todo.held)
    await report(todo, { cost_usd: 1.01 })
    expect(await now(db, todo.id)).toMatchObject({
      state: 'failed',
      failures: 0,
      live_children: 0,
      error: { code: 'budget_exceeded', data: { usage: { cost_usd: 1.01 }, budget: { max_cost_usd: 1 } } },
      usage: { total: { cost_usd: 1.01 } },
    })
    const events = await sql`SELECT verb, reason FROM todo_events WHERE todo_id = ${todo.id} ORDER BY id DESC LIMIT 1`
    expect(events).toEqual([{ verb: 'failed', reason: 'budget_exceeded' }])
    const attempts = await sql`SELECT outcome, disposition FROM todo_attempts WHERE todo_id = ${todo.id}`
    expect(attempts).toEqual([{ outcome: 'budget', disposition: 'dead_lettered' }])
  })

  test.each(['fail', 'release', 'interrupt', 'wait'] as const)(
    'with %s, repeated, gets the same answer',
    async (verb) => {
      const todo = await budgeted({ max_tokens: 10 })
      const over = { tokens: 11 }
      const first = await REPORTS[verb]?.(todo, over)
      expect(await REPORTS[verb]?.(todo, over)).toEqual(first)
    },
  )

  test('with a heartbeat tells the worker to stop', async () => {
    const [one, other] = [await budgeted({ max_tokens: 10 }), await budgeted({ max_tokens: 10 })]
    expect(await heartbeat(db, { ...one.held, usage: { tokens: 11 } }, WORKER)).toMatchObject({ state: 'failed' })
    const [beaten] = await heartbeatMany(db, [{ ...other.held, usage: { tokens: 11 } }], WORKER)
    expect(beaten).toMatchObject({ ok: false, code: 'todo_terminal' })
  })

  test('exactly at the budget is within it, and a completion always completes', async () => {
    const todo = await budgeted({ max_tokens: 10 })
    await heartbeat(db, { ...todo.held, usage: { tokens: 10 } }, WORKER)
    const done = await complete(db, { ...todo.held, usage: { tokens: 5000 } }, WORKER, 'all of it')
    expect(done).toMatchObject({ state: 'completed', result: 'all of it', usage: { total: { tokens: 5000 } } })
  })

  test('under a lost lease counts for nothing', async () => {
    const todo = await budgeted({ max_tokens: 10 })
    await release(db, todo.held, WORKER)
    expect(await codeOf(heartbeat(db, { ...todo.held, usage: { tokens: 99 } }, WORKER))).toBe('lease_lost')
    expect(await now(db, todo.id)).toMatchObject({ state: 'pending', usage: { total: { tokens: 0 } } })
  })
})

describe('time', () => {
  test('is spent while claimed, over all claims, and not while a person thinks', async () => {
    const todo = await budgeted({ max_seconds: 100 })
    await backdate(db, todo.id, { state_since: 60 })
    const { interrupt: asked } = await interrupt(db, todo.held, WORKER, QUESTION)
    expect((await now(db, todo.id)).usage?.total.seconds).toBeCloseTo(60, 0)
    await backdate(db, todo.id, { state_since: 5000 })
    await answer(db, asked.id, OPERATOR, PLAIN_REPLY)
    expect((await now(db, todo.id)).usage?.total.seconds).toBeCloseTo(60, 0)
    expect(await expireBudgets(db)).toEqual([])
    await backdate(db, todo.id, { state_since: 41 })
    const [swept] = await expireBudgets(db)
    expect(swept?.todo).toMatchObject({ id: todo.id, state: 'failed', error: { code: 'budget_exceeded' } })
    const [event] = await sql`SELECT actor, reason FROM todo_events WHERE todo_id = ${todo.id} AND verb = 'failed'`
    expect(event).toEqual({ actor: 'reaper', reason: 'budget_exceeded' })
  })

  test('is not counted where no budget limits it', async () => {
    const todo = await given(db, 'claimed')
    await backdate(db, todo.id, { state_since: 5000 })
    expect(await expireBudgets(db)).toEqual([])
    await complete(db, todo.held, WORKER, null)
    expect(await now(db, todo.id)).toMatchObject({ usage: null })
  })
})

test('what has used up its budget goes back only with another', async () => {
  const todo = await budgeted({ max_tokens: 10 })
  await heartbeat(db, { ...todo.held, usage: { tokens: 11 } }, WORKER)
  expect(await codeOf(requeue(db, todo.id, OPERATOR))).toBe('invalid_state')
  const refusal = await refusalOf(requeue(db, todo.id, OPERATOR, { budget: { max_tokens: 9 } }))
  expect(refusal).toMatchObject({ code: 'validation_failed', facts: { errors: [{ pointer: '/budget/max_tokens' }] } })
  expect(await requeue(db, todo.id, OPERATOR, { budget: { max_tokens: 20 } })).toMatchObject({ state: 'pending' })
})

test('what is past its deadline goes back only with another', async () => {
  const todo = await given(db, 'canceled', { todo: { deadline_at: '2020-01-01T00:00:00.000Z' } })
  expect(await codeOf(requeue(db, todo.id, OPERATOR))).toBe('invalid_state')
  const past = { deadline_at: '2021-01-01T00:00:00.000Z' }
  expect(await codeOf(requeue(db, todo.id, OPERATOR, past))).toBe('validation_failed')
  const ahead = { deadline_at: '2099-01-01T00:00:00.000Z' }
  expect(await requeue(db, todo.id, OPERATOR, ahead)).toMatchObject({ state: 'pending', ...ahead })
})
