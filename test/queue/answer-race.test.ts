import { expect, test } from 'vitest'
import type { Db } from '#lib/db/connect'
import { answer, resume } from '#lib/queue/answer'
import { cancel } from '#lib/queue/cancel'
import { claim } from '#lib/queue/claim'
import { expireInterrupts } from '#lib/queue/expire'
import { interrupt } from '#lib/queue/interrupt'
import type { Interrupt } from '#lib/wire/interrupt'
import type { Todo } from '#lib/wire/todo'
import { person } from '../support/callers'
import { database } from '../support/database'
import { type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf, refusalOf } from '../support/refusal'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

async function rounds(reduced: number, full: number, round: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; n < times(reduced, full); n++) await round(n)
}

const lastVerb = async (id: string) =>
  (await sql`SELECT verb FROM todo_events WHERE todo_id = ${id} AND verb <> 'fenced' ORDER BY id DESC LIMIT 1`)[0]?.verb

const stored = async (id: string) => (await sql<Interrupt>`SELECT * FROM interrupts WHERE id = ${id}`)[0] as Interrupt

test('of twenty answers at once one wins, and all others hear whose it was', () =>
  rounds(3, 30, async () => {
    const asked = await given(db, 'input-required')
    const people = Array.from({ length: 20 }, (_, n) => person(`person-${n}`))
    const reply = (n: number) => ({ action: 'accept' as const, content: { answer: `${n}` } })
    const refusals = await Promise.all(people.map((who, n) => refusalOf(answer(db, asked.interruptId, who, reply(n)))))
    const winner = refusals.indexOf(null)
    const { answered_by, content } = await stored(asked.interruptId)
    expect(refusals.filter((refusal) => refusal === null)).toHaveLength(1)
    expect({ answered_by, content }).toEqual({ answered_by: `user:person-${winner}`, content: { answer: `${winner}` } })
    for (const refusal of refusals.filter((refusal) => refusal !== null)) {
      expect(refusal).toMatchObject({ code: 'already_answered', facts: { answered_by, state: 'claimed' } })
    }
  }))

test('a double click by one person is one answer, and both clicks see it', () =>
  rounds(5, 50, async () => {
    const asked = await given(db, 'input-required')
    const click = () => answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)
    const [one, two] = await Promise.all([click(), click()])
    expect(one.interrupt).toEqual(two.interrupt)
    expect(await now(db, asked.id)).toMatchObject({ version: asked.todo.version + 1 })
  }))

test('a late answer to the first question never resumes the second', () =>
  rounds(50, 500, async () => {
    const asked = await given(db, 'input-required')
    const moveOn = async () => {
      await resume(db, asked.held, WORKER, { interruptId: asked.interruptId, action: 'decline' })
      return interrupt(db, asked.held, WORKER, { kind: 'input', title: 'Second?', risk: 'low' })
    }
    const [code, second] = await Promise.all([codeOf(answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)), moveOn()])
    const first = await stored(asked.interruptId)
    expect(code).toBe(first.status === 'answered' ? null : 'already_answered')
    expect(first).toMatchObject(first.status === 'answered' ? PLAIN_REPLY : { status: 'resolved', action: 'decline' })
    expect(await now(db, asked.id)).toMatchObject({ state: 'input-required', open_interrupt_id: second.interrupt.id })
    expect(await stored(second.interrupt.id)).toMatchObject({ status: 'open', answered_by: null })
    expect(await claim(db, { queues: ['main'] }, WORKER)).toEqual([])
  }))

/** What an answer and its rival left: exactly one of them happened, and row, event and question agree on which. */
async function settled(asked: Given, code: string | null, other: Outcome): Promise<void> {
  const todo = await now(db, asked.id)
  const question = await stored(asked.interruptId)
  const seen = { status: question.status, verb: await lastVerb(asked.id), state: todo.state, code }
  if (code === null) expect(seen).toEqual({ status: 'answered', verb: 'answered', state: 'claimed', code })
  else expect(seen).toEqual({ ...other, code: 'interrupt_closed' })
  expect(todo.version).toBe(asked.todo.version + 1)
  expect(question.answered_at !== null).toBe(code === null)
}

interface Outcome {
  status: Interrupt['status']
  verb: string
  state: Todo['state']
}

const answerCode = (asked: Given) => codeOf(answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY))

test('an answer at the deadline and the sweep: one of them happens', () =>
  rounds(30, 300, async () => {
    const asked = await given(db, 'input-required', { ago: { interrupted_at: DAY + 1 } })
    const sweep = (at: Db) => expireInterrupts(at, { ttlSeconds: DAY })
    const [code, swept] = await Promise.all([answerCode(asked), sweep(db)])
    expect(swept).toHaveLength(code === null ? 0 : 1)
    await settled(asked, code, { status: 'expired', verb: 'requeued', state: 'pending' })
  }))

test('an answer and a cancel: the answer is stored or refused, and the todo is canceled either way', () =>
  rounds(30, 300, async (n) => {
    const asked = await given(db, 'input-required')
    const both = [answerCode(asked), cancel(db, asked.id, OPERATOR)] as const
    const [code] = await Promise.all(n % 2 ? both : [both[0], both[1]])
    const todo = await now(db, asked.id)
    const question = await stored(asked.interruptId)
    expect(todo).toMatchObject({ state: 'canceled', version: asked.todo.version + (code === null ? 2 : 1) })
    expect(question.status).toBe(code === null ? 'answered' : 'canceled')
    expect(code === null || code === 'interrupt_closed').toBe(true)
    expect(await lastVerb(asked.id)).toBe('canceled')
  }))

test('an answer and the holder’s own: one is stored, and the holder always learns which', () =>
  rounds(20, 200, async () => {
    const asked = await given(db, 'input-required')
    const own = resume(db, asked.held, WORKER, { interruptId: asked.interruptId, action: 'decline' })
    const [code, resumed] = await Promise.all([answerCode(asked), own])
    const question = await stored(asked.interruptId)
    expect(resumed.interrupt).toMatchObject({ status: question.status, action: question.action })
    expect(question.status).toBe(code === null ? 'answered' : 'resolved')
    expect(code === null || code === 'already_answered').toBe(true)
  }))
