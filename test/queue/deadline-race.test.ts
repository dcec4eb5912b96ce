import { expect, test } from 'vitest'
import { answer } from '#lib/queue/answer'
import { cancel } from '#lib/queue/cancel'
import { complete } from '#lib/queue/complete'
import { expireDeadlines, expireLeases } from '#lib/queue/expire'
import { heartbeat } from '#lib/queue/heartbeat'
import type { Todo } from '#lib/wire/todo'
import { database } from '../support/database'
import { type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'
import { PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

async function rounds(round: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; n < times(25, 500); n++) await round(n)
}

/** Both at once, begun in either order. */
const both = async <One, Other>(
  n: number,
  one: () => Promise<One>,
  other: () => Promise<Other>,
): Promise<[One, Other]> => {
  if (n % 2) return Promise.all([one(), other()])
  const [second, first] = await Promise.all([other(), one()])
  return [first, second]
}

const endsOf = async (id: string) =>
  (
    await sql<{
      verb: string
    }>`SELECT verb FROM todo_events WHERE todo_id = ${id} AND verb IN ('completed', 'failed', 'canceled')`
  ).map(({ verb }) => verb)

const questionOf = async ({ interruptId }: Given) =>
  (await sql`SELECT status FROM interrupts WHERE id = ${interruptId}`)[0]?.status

test('an answer against a cancel: the todo is canceled, and the answer stored or refused', () =>
  rounds(async (n) => {
    const asked = await given(db, 'input-required', { question: { mode: n % 3 ? 'hold' : 'park' } })
    const [code] = await both(
      n,
      () => codeOf(answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)),
      () => cancel(db, asked.id, OPERATOR),
    )
    expect(code === null || code === 'interrupt_closed').toBe(true)
    expect(await questionOf(asked)).toBe(code === null ? 'answered' : 'canceled')
    expect(await endsOf(asked.id)).toEqual(['canceled'])
  }))

test('a deadline against an answer: the todo fails, and the answer is stored or refused', () =>
  rounds(async (n) => {
    const asked = await given(db, 'input-required', { ago: { deadline_at: 1 } })
    const [code] = await both(
      n,
      () => codeOf(answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)),
      () => expireDeadlines(db),
    )
    expect(code === null || code === 'interrupt_closed').toBe(true)
    // The sweep leaves alone what changed under its eyes; the next one finds it.
    await expireDeadlines(db)
    expect(await questionOf(asked)).toBe(code === null ? 'answered' : 'expired')
    expect(await now(db, asked.id)).toMatchObject({ state: 'failed', error: { code: 'deadline_exceeded' } })
    expect(await endsOf(asked.id)).toEqual(['failed'])
  }))

test('a budget against a completion: one of them ends it', () =>
  rounds(async (n) => {
    const { id, held } = await given(db, 'claimed', { todo: { budget: { max_tokens: 10 } } })
    const [done, beaten] = await both(
      n,
      () => codeOf(complete(db, held, WORKER, 'done')),
      () =>
        heartbeat(db, { ...held, usage: { tokens: 11 } }, WORKER).then(
          ({ state }) => state,
          (refusal) => refusal.code,
        ),
    )
    const { state } = await now(db, id)
    if (done === null) expect([state, beaten]).toEqual(['completed', 'todo_terminal'])
    else expect([state, beaten, done]).toEqual(['failed', 'failed', 'todo_terminal'])
    expect(await endsOf(id)).toHaveLength(1)
  }))

test('a lapsed lease and a deadline in one tick: the deadline ends it, and no execution is counted as lost', () =>
  rounds(async (n) => {
    const { id } = await given(db, 'claimed', { ago: { deadline_at: 1, lease_expires_at: 1 } })
    if (n % 2) await Promise.all([expireLeases(db), expireDeadlines(db)])
    else await expireDeadlines(db).then(() => expireLeases(db))
    const todo: Todo = await now(db, id)
    expect(todo).toMatchObject({ state: 'failed', lease_expirations: 0, error: { code: 'deadline_exceeded' } })
    expect(await endsOf(id)).toEqual(['failed'])
    const attempts = await sql`SELECT outcome, disposition FROM todo_attempts WHERE todo_id = ${id}`
    expect(attempts).toEqual([{ outcome: 'deadline', disposition: 'dead_lettered' }])
  }))
