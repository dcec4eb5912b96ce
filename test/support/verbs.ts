import { v7 as uuidv7 } from 'uuid'
import type { Db } from '#lib/db/connect'
import { answer, resume } from '#lib/queue/answer'
import { beginEffect } from '#lib/queue/begin-effect'
import { cancel, reject } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
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
import { fail } from '#lib/queue/fail'
import { heartbeat } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import type { Moved } from '#lib/queue/moved'
import { park, parkForHolder } from '#lib/queue/park'
import { release } from '#lib/queue/release'
import { requeue } from '#lib/queue/requeue'
import { reportEffect, settleEffect } from '#lib/queue/settle-effect'
import { wait } from '#lib/queue/wait'
import { backdate } from './clock'
import { child, type Given, OPERATOR, PAY } from './given'
import { codeOf } from './refusal'

/** What somebody does to a todo: the plainest call of one verb. */
export type Act = (db: Db, given: Given) => Promise<unknown>

export const DAY = 86_400

/** The verbs of whoever holds the lease, by their names in TRANSITIONS; heartbeat and beginEffect have no row there, since they move nothing. */
export const HOLDER_VERBS = {
  heartbeat: (db, { held, worker }) => heartbeat(db, held, worker),
  complete: (db, { held, worker }) => complete(db, held, worker, { done: true }),
  fail: (db, { held, worker }) => fail(db, held, worker, { error: { code: 'broken', message: 'It broke' } }),
  release: (db, { held, worker }) => release(db, held, worker),
  interrupt: (db, { held, worker }) =>
    interrupt(db, held, worker, { kind: 'input', risk: 'low', title: 'Another question?' }),
  interruptParked: (db, { held, worker }) =>
    interrupt(db, held, worker, { kind: 'input', mode: 'park', risk: 'low', title: 'Another question?' }),
  park: (db, { held, worker }) => park(db, held, worker, { page: 7 }),
  wait: async (db, { held, worker, todo }) => {
    // Who has lost the lease makes none; what they are told is the wait's to say.
    if (todo.state === 'claimed' && todo.live_children === 0) await codeOf(child(db, held, worker))
    return wait(db, held, worker)
  },
  beginEffect: (db, { held, worker }) => beginEffect(db, held, worker, PAY),
  resume: (db, { held, worker, interruptId }) =>
    resume(db, held, worker, { interruptId: interruptId || uuidv7(), action: 'decline' }),
} satisfies Record<string, Act>

/** The verbs of everybody else. */
export const OTHER_VERBS = {
  claim: (db, { id, worker }) => claimById(db, id, {}, worker),
  answer: (db, { interruptId }) => answer(db, interruptId || uuidv7(), OPERATOR, { action: 'decline' }),
  parkForHolder: (db, { id }) => parkForHolder(db, id, OPERATOR),
  cancel: (db, { id }) => cancel(db, id, OPERATOR),
  reject: (db, { id }) => reject(db, id, OPERATOR),
  requeue: (db, { id }) => requeue(db, id, OPERATOR),
} satisfies Record<string, Act>

/** What is said of an effect that was begun: its worker's word, and a person's. */
export const EFFECT_VERBS = {
  reportEffect: (db, { held, worker }) => reportEffect(db, held, worker, { key: PAY.key, status: 'confirmed' }),
  settleEffect: (db, { id }) =>
    settleEffect(db, id, OPERATOR, { key: PAY.key, happened: true, comment: 'The bank shows it' }),
} satisfies Record<string, Act>

/** The sweeps, each after the todo has been made due for it as far as its state lets it. */
export const SWEEPS = {
  expireDeadline: async (db, { id }) => {
    await backdate(db, id, { deadline_at: 1 })
    return expireDeadlines(db)
  },
  expireLease: async (db, { id, todo }) => {
    if (todo.lease_expires_at) await backdate(db, id, { lease_expires_at: 1 })
    return expireLeases(db)
  },
  expireInterrupt: async (db, { id, todo }) => {
    if (todo.interrupted_at) await backdate(db, id, { interrupted_at: DAY + 1 })
    return expireInterrupts(db, { ttlSeconds: DAY })
  },
  expireParked: async (db, { id, todo }) => {
    if (todo.interrupted_at) await backdate(db, id, { interrupted_at: DAY + 1 })
    return expireParked(db, { ttlSeconds: DAY })
  },
  exhaust: async (db, { id }) => {
    const text = `UPDATE todos SET max_attempts = failures + lease_expirations WHERE id = $1 AND state = 'pending'`
    await db.query({ text, values: [id] })
    return exhaust(db)
  },
  expireBudget: async (db, { id, todo }) => {
    const text = `UPDATE todos SET budget = '{"max_seconds": 60}', state_since = now() - interval '61 seconds' WHERE id = $1`
    if (todo.completed_at === null) await db.query({ text, values: [id] })
    return expireBudgets(db)
  },
  // The end of a last child continues its parent by itself; here it has ended without.
  childrenDone: async (db, { id }) => {
    const text = `WITH ended AS (
        UPDATE todos SET state = 'canceled', completed_at = now(), version = version + 1
        WHERE parent_id = $1 AND completed_at IS NULL RETURNING *),
      told AS (
        INSERT INTO todo_events (todo_id, queue, verb, from_state, to_state, actor, lease_epoch)
        SELECT id, queue, 'canceled', 'pending', state, 'system', 0 FROM ended)
      UPDATE todos SET live_children = 0, version = version + 1 WHERE id = $1 AND state = 'waiting'`
    await db.query({ text, values: [id] })
    return continueParents(db)
  },
} satisfies Record<string, (db: Db, given: Given) => Promise<Moved[]>>

/** An answer that a question without a form takes. */
export const PLAIN_REPLY = { action: 'accept', content: { answer: 'the first' } } as const
