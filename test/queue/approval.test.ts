import { beforeAll, describe, expect, test } from 'vitest'
import { answer, resume } from '#lib/queue/answer'
import { beginEffect, type Declaration } from '#lib/queue/begin-effect'
import { claimById } from '#lib/queue/claim'
import { expireParked } from '#lib/queue/expire'
import { interrupt } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { forgetSettings } from '#lib/queue/settings'
import { reportEffect } from '#lib/queue/settle-effect'
import { argumentsHash } from '#lib/wire/arguments-hash'
import type { EndpointCaller, PersonCaller } from '#lib/wire/caller'
import type { Interrupt } from '#lib/wire/interrupt'
import { approver, endpoint, registered } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { type Given, given, now, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf, refusalOf } from '../support/refusal'
import { DAY } from '../support/verbs'

const { db, sql } = database()
keepsInvariants(db)

const RENT = { to: 'the landlord', amount: 500 }
const ACCEPT = { action: 'accept' } as const

let boss: PersonCaller
let hash: string

beforeAll(async () => {
  boss = await approver(db, 'responder')
  hash = await argumentsHash(RENT)
})

/** A todo whose worker has asked for an approval and let go. */
async function proposed(
  risk: Interrupt['risk'] = 'medium',
  proposal = { action: 'pay', arguments: RENT },
): Promise<Given> {
  return given(db, 'input-required', { question: { kind: 'approval', mode: 'park', risk, proposal } })
}

/** The same, approved and claimed again: what its next worker holds. */
async function approved(risk?: Interrupt['risk'], by: PersonCaller | EndpointCaller = boss): Promise<Given> {
  const asked = await proposed(risk)
  await answer(db, asked.interruptId, by, ACCEPT)
  return goesOn(asked)
}

async function goesOn(asked: Given): Promise<Given> {
  const { lease_epoch: leaseEpoch } = await claimById(db, asked.id, {}, WORKER)
  return { ...asked, held: { ...asked.held, leaseEpoch } }
}

const begin = ({ held, interruptId: interrupt_id }: Given, said: Partial<Declaration> = {}) =>
  beginEffect(db, held, WORKER, { key: 'pay', idempotent: false, arguments_hash: hash, interrupt_id, ...said })

/** Refused, for this reason, and nothing was begun. */
async function mismatched(todo: Given, why: RegExp, said: Partial<Declaration> = {}): Promise<void> {
  const before = await sql`SELECT * FROM effects WHERE todo_id = ${todo.id}`
  expect(await refusalOf(begin(todo, said))).toMatchObject({
    code: 'approval_mismatch',
    facts: { detail: expect.stringMatching(why) },
  })
  expect(await sql`SELECT * FROM effects WHERE todo_id = ${todo.id}`).toEqual(before)
  expect((await now(db, todo.id)).state).toBe('claimed')
}

test('an approved effect begins under its approval, once and again', async () => {
  const todo = await approved()
  expect(await begin(todo, { request_id: 'r1' })).toMatchObject({
    begun: true,
    effect: { interrupt_id: todo.interruptId },
  })
  expect(await begin(todo, { request_id: 'r1' })).toMatchObject({ begun: false })
  await reportEffect(db, todo.held, WORKER, { key: 'pay', status: 'failed' })
  expect(await begin(todo, { request_id: 'r2' })).toMatchObject({ begun: true })
})

test('arguments that only differ in order are the same; any other change is not what was approved', async () => {
  const todo = await approved()
  for (const other of [{ ...RENT, amount: 501 }, { ...RENT, tip: null }, {}, null]) {
    await mismatched(todo, /Other arguments/, { arguments_hash: await argumentsHash(other) })
  }
  await mismatched(todo, /Other arguments/, { arguments_hash: undefined })
  const reordered = await argumentsHash({ amount: 500, to: 'the landlord' })
  expect(await begin(todo, { arguments_hash: reordered })).toMatchObject({ begun: true })
})

describe('what is no approval', () => {
  test('one that was declined', async () => {
    const asked = await proposed()
    await answer(db, asked.interruptId, boss, { action: 'decline' })
    await mismatched(await goesOn(asked), /declined/)
  })

  test('one that nobody gave in time', async () => {
    const asked = await proposed()
    await backdate(db, asked.id, { interrupted_at: DAY + 1 })
    await expireParked(db, { ttlSeconds: DAY })
    expect(await codeOf(answer(db, asked.interruptId, boss, ACCEPT))).toBe('interrupt_closed')
    await mismatched(await goesOn(asked), /expired/)
  })

  test('the answer to another kind of question', async () => {
    const asked = await given(db, 'input-required', { question: { mode: 'park' } })
    await answer(db, asked.interruptId, boss, { action: 'accept', content: { answer: 'yes' } })
    await mismatched(await goesOn(asked), /not an approval/)
  })

  test('that of another todo, or none there is', async () => {
    const [one, two] = [await approved(), await approved()]
    await mismatched({ ...one, interruptId: two.interruptId }, /no such approval/)
    await mismatched({ ...one, interruptId: '00000000-0000-7000-8000-000000000000' }, /no such approval/)
  })
})

describe('who asks for an approval', () => {
  test.each(['hold', 'park'] as const)('can neither give nor decline it, nor go on without: %s', async (mode) => {
    const question = { kind: 'approval', mode, proposal: { action: 'pay', arguments: RENT } } as const
    const asked = await given(db, 'input-required', { question })
    const { interruptId } = asked
    expect(await codeOf(answer(db, interruptId, WORKER, ACCEPT))).toBe('forbidden')
    expect(await codeOf(answer(db, interruptId, WORKER, { action: 'decline' }))).toBe('forbidden')
    expect(await codeOf(resume(db, asked.held, WORKER, { interruptId, ...ACCEPT }))).toBe('forbidden')
    expect(await now(db, asked.id)).toEqual(asked.todo)
    expect(await codeOf(begin(asked))).toBe(mode === 'hold' ? 'invalid_state' : 'lease_lost')
  })
})

test('an approval given twice is given once', async () => {
  const asked = await proposed()
  const first = await answer(db, asked.interruptId, boss, ACCEPT)
  expect(await answer(db, asked.interruptId, boss, ACCEPT)).toEqual(first)
  const second = await approver(db)
  expect(await codeOf(answer(db, asked.interruptId, second, ACCEPT))).toBe('already_answered')
  expect(await codeOf(answer(db, asked.interruptId, boss, { action: 'decline' }))).toBe('already_answered')
  expect(await begin(await goesOn(asked))).toMatchObject({ begun: true })
})

describe('an approval is good for as long as its risk allows', () => {
  const VALID = { low: DAY, medium: DAY, high: DAY / 6, critical: DAY / 24 }
  const age = (id: string, seconds: number) =>
    sql`UPDATE interrupts SET answered_at = now() - make_interval(secs => ${seconds}) WHERE id = ${id}`

  test.each(Object.entries(VALID))('%s: %s s', async (risk, seconds) => {
    const todo = await approved(risk as Interrupt['risk'])
    await age(todo.interruptId, seconds + 1)
    await mismatched(todo, /older than its risk allows/)
    await age(todo.interruptId, seconds - 60)
    expect(await begin(todo)).toMatchObject({ begun: true })
  })

  test('which is a setting', async () => {
    await sql`INSERT INTO settings (key, value) VALUES ('approval_valid_seconds_low', '60')`
    forgetSettings(db)
    const todo = await approved('low')
    await age(todo.interruptId, 61)
    await mismatched(todo, /older/)
    await sql`DELETE FROM settings`
    forgetSettings(db)
    expect(await begin(todo)).toMatchObject({ begun: true })
  })

  test('for a second try, too', async () => {
    const todo = await approved('critical')
    await begin(todo, { idempotent: true })
    await age(todo.interruptId, 3601)
    await mismatched(todo, /older/, { idempotent: true })
  })

  test('but what is done is answered, however old it is', async () => {
    const todo = await approved('critical')
    await begin(todo)
    await reportEffect(db, todo.held, WORKER, { key: 'pay', status: 'confirmed' })
    await age(todo.interruptId, 3601)
    expect(await begin(todo)).toMatchObject({ begun: false, effect: { status: 'confirmed' } })
  })
})

describe('who approved', () => {
  test('must still be somebody who answers', async () => {
    const person = await approver(db)
    const todo = await approved('low', person)
    await sql`UPDATE people SET role = 'viewer' WHERE id = ${person.id}`
    await mismatched(todo, /may no longer/)
    await sql`UPDATE people SET role = 'admin' WHERE id = ${person.id}`
    expect(await begin(todo)).toMatchObject({ begun: true })
  })

  test('must still be there', async () => {
    const person = await approver(db)
    const todo = await approved('low', person)
    await sql`DELETE FROM people WHERE id = ${person.id}`
    await mismatched(todo, /may no longer/)
  })

  const LOST: [string, string][] = [
    ['revoked', `revoked_at = now()`],
    ['expired', `expires_at = now() - interval '1 s'`],
    ['without the scope', `scopes = '{work,read}'`],
    ['kept to other queues', `queues = '{other}'`],
  ]

  test.each(LOST)('must be an endpoint in force: %s', async (name, change) => {
    const approver = await registered(db, `approver-${name.replaceAll(' ', '-')}`)
    const todo = await approved('low', approver)
    await db.query({ text: `UPDATE endpoints SET ${change} WHERE id = $1`, values: [approver.id] })
    await mismatched(todo, /may no longer/)
    await db.query({
      text: `UPDATE endpoints SET revoked_at = NULL, expires_at = now() + interval '1 h', scopes = '{answer}', queues = '{main}' WHERE id = $1`,
      values: [approver.id],
    })
    expect(await begin(todo)).toMatchObject({ begun: true })
  })

  test('is nobody who only bears the name of one', async () => {
    const todo = await approved('low', endpoint(boss.id))
    await mismatched(todo, /may no longer/)
  })
})

describe('an approval covers one effect', () => {
  test('and no second one, however the first ended', async () => {
    for (const status of [null, 'confirmed', 'failed'] as const) {
      const todo = await approved()
      await begin(todo)
      if (status) await reportEffect(db, todo.held, WORKER, { key: 'pay', status })
      await mismatched(todo, /another effect/, { key: 'pay again' })
    }
  })

  test('nor when the first was begun again under none, or under another', async () => {
    for (const more of [{ interrupt_id: undefined }, { interrupt_id: 'another' }]) {
      const todo = await approved()
      await begin(todo, { idempotent: true })
      if (more.interrupt_id) more.interrupt_id = await anotherApproval(todo)
      await begin(todo, { idempotent: true, ...more })
      await mismatched(todo, /another effect/, { key: 'pay again', idempotent: true })
    }
  })

  /** Asks for a second approval while holding, and gets it. */
  async function anotherApproval({ held }: Given): Promise<string> {
    const proposal = { action: 'pay', arguments: RENT }
    const asked = await interrupt(db, held, WORKER, { kind: 'approval', title: 'Again?', risk: 'low', proposal })
    await answer(db, asked.interrupt.id, boss, ACCEPT)
    return asked.interrupt.id
  }

  test('the same one in a later epoch still', async () => {
    const todo = await approved()
    await begin(todo)
    await reportEffect(db, todo.held, WORKER, { key: 'pay', status: 'failed' })
    await release(db, todo.held, WORKER)
    expect(await begin(await goesOn(todo))).toMatchObject({ begun: true, effect: { lease_epoch: 3 } })
  })
})

test('an effect that names no approval needs none', async () => {
  const todo = await given(db, 'claimed')
  expect(await begin(todo, { interrupt_id: undefined })).toMatchObject({ begun: true, effect: { interrupt_id: null } })
})

test('an approval doesn’t lift a doubt', async () => {
  const todo = await approved()
  await begin(todo)
  expect(await codeOf(begin(todo, { request_id: 'another' }))).toBe('effect_uncertain')
})
