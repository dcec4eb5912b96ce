import { beforeAll, describe, expect, test } from 'vitest'
import type { Database, Db } from '#lib/db/connect'
import { answer } from '#lib/queue/answer'
import { beginEffect } from '#lib/queue/begin-effect'
import { interrupt } from '#lib/queue/interrupt'
import { park, parkForHolder } from '#lib/queue/park'
import { reportEffect, settleEffect } from '#lib/queue/settle-effect'
import type { PromptSchema } from '#lib/wire/prompt-schema'
import { dying, endAt, makeStoppable, POINTS } from '../support/crash'
import { database } from '../support/database'
import { type Given, given, OPERATOR, PAY, WORKER } from '../support/given'
import { invariants, keepsInvariants } from '../support/invariants'
import { startProxy } from '../support/proxy'
import { PLAIN_REPLY } from '../support/verbs'

const { db, sql, url } = database()
keepsInvariants(db)

beforeAll(() => makeStoppable(db))

/** One verb: what it is done to, and the call; `inSteps` where it is a transaction of several statements. */
interface Verb {
  inSteps?: true
  to: () => Promise<Given>
  call: (db: Db, given: Given) => Promise<unknown>
}

const schema: PromptSchema = { type: 'object', properties: { happened: { type: 'boolean' } }, required: ['happened'] }
const DOUBT = { kind: 'input', mode: 'park', risk: 'low', title: 'Did it?', effect_key: PAY.key, schema } as const
const PARKED = { question: { mode: 'park' } } as const
const BEGUN = { effect: { request_id: 'r1' } }

async function doubted(): Promise<Given> {
  const begun = await given(db, 'claimed', BEGUN)
  return { ...begun, interruptId: (await interrupt(db, begun.held, WORKER, DOUBT)).interrupt.id }
}

const VERBS: Record<string, Verb> = {
  'asks and parks': {
    to: () => given(db, 'claimed'),
    call: (at, { held }) =>
      interrupt(at, held, WORKER, {
        kind: 'input',
        mode: 'park',
        risk: 'low',
        title: 'Which?',
        checkpoint: { page: 7 },
        request_id: 'r1',
      }),
  },
  'parks what it holds': {
    to: () => given(db, 'input-required'),
    call: (at, { held }) => park(at, held, WORKER, { page: 7 }),
  },
  'is parked by an operator': {
    to: () => given(db, 'auth-required'),
    call: (at, { id }) => parkForHolder(at, id, OPERATOR),
  },
  'is answered, parked': {
    to: () => given(db, 'input-required', PARKED),
    call: (at, { interruptId }) => answer(at, interruptId, OPERATOR, PLAIN_REPLY),
  },
  'is answered, held': {
    to: () => given(db, 'input-required'),
    call: (at, { interruptId }) => answer(at, interruptId, OPERATOR, PLAIN_REPLY),
  },
  'is told that its effect happened': {
    to: doubted,
    call: (at, { interruptId }) => answer(at, interruptId, OPERATOR, { action: 'accept', content: { happened: true } }),
  },
  'begins an effect': {
    to: () => given(db, 'claimed'),
    call: (at, { held }) => beginEffect(at, held, WORKER, { ...PAY, request_id: 'r1' }),
  },
  'begins an effect again': {
    to: async () => {
      const begun = await given(db, 'claimed', BEGUN)
      await reportEffect(db, begun.held, WORKER, { key: PAY.key, status: 'failed' })
      return begun
    },
    call: (at, { held }) => beginEffect(at, held, WORKER, { ...PAY, request_id: 'r2' }),
  },
  'confirms its effect': {
    to: () => given(db, 'claimed', BEGUN),
    call: (at, { held }) => reportEffect(at, held, WORKER, { key: PAY.key, status: 'confirmed', result: 7 }),
  },
  'reports its effect failed': {
    to: () => given(db, 'claimed', BEGUN),
    call: (at, { held }) => reportEffect(at, held, WORKER, { key: PAY.key, status: 'failed' }),
  },
  'hears from its worker what a person is being asked': {
    inSteps: true,
    to: doubted,
    call: (at, { held }) => reportEffect(at, held, WORKER, { key: PAY.key, status: 'confirmed', result: 7 }),
  },
  'asks whether its effect happened': {
    inSteps: true,
    to: () => given(db, 'claimed', BEGUN),
    call: (at, { held }) => interrupt(at, held, WORKER, { ...DOUBT, request_id: 'r2' }),
  },
  'has its effect settled by a person': {
    to: doubted,
    call: (at, { id }) => settleEffect(at, id, OPERATOR, { key: PAY.key, happened: false, comment: 'Seen' }),
  },
}

/** All that is stored of a todo, but for the moments at which it was written. */
async function written(id: string): Promise<unknown> {
  const tables = await Promise.all([
    sql`SELECT to_jsonb(t) AS row FROM todos t WHERE id = ${id}`,
    sql`SELECT to_jsonb(a) AS row FROM todo_attempts a WHERE todo_id = ${id} ORDER BY seq`,
    sql`SELECT to_jsonb(q) AS row FROM interrupts q WHERE todo_id = ${id} ORDER BY id`,
    sql`SELECT to_jsonb(e) AS row FROM effects e WHERE todo_id = ${id} ORDER BY key`,
    sql`SELECT verb, from_state, to_state, actor, attempt_seq, lease_epoch FROM todo_events WHERE todo_id = ${id} ORDER BY id`,
  ])
  return JSON.parse(JSON.stringify(tables), (name, value) =>
    /_at$|^(id|todo_id|open_interrupt_id|interrupt|state_since|request_id)$/.test(name) && value !== null
      ? 'set'
      : value,
  )
}

const left = new Map<Verb, Promise<unknown>>()

/** What the verb leaves when nothing happens to its process. */
function undisturbed(verb: Verb): Promise<unknown> {
  const known = left.get(verb) ?? verb.to().then((todo) => verb.call(db, todo).then(() => written(todo.id)))
  left.set(verb, known)
  return known
}

/** One of the two legal outcomes stands, never a third; and the call, sent again, leaves what one call leaves. */
async function settled(verb: Verb, todo: Given, before: unknown): Promise<'done' | 'undone'> {
  const done = await undisturbed(verb)
  const after = await written(todo.id)
  expect(await invariants(db)).toEqual([])
  const isUndone = JSON.stringify(after) === JSON.stringify(before)
  if (!isUndone) expect(after).toEqual(done)
  await verb.call(db, todo)
  expect(await written(todo.id)).toEqual(done)
  return isUndone ? 'undone' : 'done'
}

describe.each(Object.entries(VERBS))('a todo that %s', (_, verb) => {
  test.each(POINTS)('while the server process ends %s is as it was', async (point) => {
    const todo = await verb.to()
    const before = await written(todo.id)
    const { reached } = await endAt(db, { point, call: (own) => verb.call(own, todo) })
    expect(await settled(verb, todo, before)).toBe(reached ? 'undone' : 'done')
  })

  test('while its caller dies in the middle of a statement is as the last statement leaves it', async () => {
    const proxy = await startProxy(url)
    const todo = await verb.to()
    const before = await written(todo.id)
    const call = (own: Database) => verb.call(own, todo)
    const fate = await endAt(db, { point: 'before todo_events', url: proxy.url, call, end: async () => proxy.cut() })
    expect(fate).toEqual({ reached: true, result: 'ended' })
    await proxy.close()
    expect(await settled(verb, todo, before)).toBe(verb.inSteps ? 'undone' : 'done')
  })

  test.each([false, true])(
    'while its caller dies between two statements is either (answer lost: %s)',
    async (answerLost) => {
      const seen = new Set<string>()
      for (let statements = 0; ; statements++) {
        const todo = await verb.to()
        const before = await written(todo.id)
        const { door, died } = dying(db, statements, { answerLost })
        await verb.call(door, todo).catch(() => {})
        seen.add(await settled(verb, todo, before))
        if (!died()) break
      }
      expect([...seen].sort()).toEqual(expect.arrayContaining(answerLost ? ['done'] : ['done', 'undone']))
    },
  )
})
