import fc from 'fast-check'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { answer, resume } from '#lib/queue/answer'
import { beginEffect } from '#lib/queue/begin-effect'
import { cancel, reject } from '#lib/queue/cancel'
import { claim, claimById } from '#lib/queue/claim'
import { complete, completeMany } from '#lib/queue/complete'
import { edit } from '#lib/queue/edit'
import { enqueue } from '#lib/queue/enqueue'
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
import { fail } from '#lib/queue/fail'
import { heartbeat, heartbeatMany } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import { park, parkForHolder } from '#lib/queue/park'
import { release } from '#lib/queue/release'
import { requeue } from '#lib/queue/requeue'
import { forgetTodos, laterBound, pruneAttempts } from '#lib/queue/retention'
import { revokeEndpoint } from '#lib/queue/revoke'
import { reportEffect, settleEffect } from '#lib/queue/settle-effect'
import { wait } from '#lib/queue/wait'
import { findTodo, type Held } from '#lib/queue/why-not'
import type { EndpointCaller } from '#lib/wire/caller'
import type { PromptSchema } from '#lib/wire/prompt-schema'
import { person, registered } from './callers'
import { OPERATOR } from './given'
import { DAY } from './verbs'

/** One thing somebody does: what, and the numbers that settle to what and how. */
export interface Step {
  act: keyof typeof ACTS
  which: number
  how: number
}

interface Lease {
  held: Held
  worker: EndpointCaller
}

/** What the actors of a walk have come to know: everything there ever was, lost leases and closed questions too. */
export interface World {
  db: Db
  /** Those who work; whoever is revoked makes room for another. */
  workers: EndpointCaller[]
  todos: string[]
  leases: Lease[]
  questions: string[]
}

const QUEUES = ['one', 'two', 'three']
const PEOPLE = [OPERATOR, person('operator-2')]

let hired = 0

/** A world in which nothing has happened yet. */
export async function createWorld(db: Db): Promise<World> {
  const workers: EndpointCaller[] = []
  for (let n = 0; n < 3; n++) workers.push(await hire(db))
  return { db, workers, todos: [], leases: [], questions: [] }
}

const hire = (db: Db): Promise<EndpointCaller> => registered(db, `walker-${++hired}`)

/** Puts another in the place of one that is on its way out; what that still does came too late. */
async function replace(world: World, worker: EndpointCaller): Promise<void> {
  const next = await hire(world.db)
  world.workers = world.workers.map((one) => (one === worker ? next : one))
}

const pick = <One>(from: readonly One[], n: number): One => from[n % from.length] as One

// Mostly one of the latest, so that walks get somewhere; else any there ever was.
const pickLate = <One>(from: readonly One[], n: number): One => pick(n % 3 ? from.slice(-4) : from, n)

type Act = (world: World, step: Step) => Promise<unknown>

/** An act by one of the leases there ever were; nothing while there is none. */
const byHolder =
  (act: (world: World, lease: Lease, how: number) => Promise<unknown>): Act =>
  async (world, { which, how }) =>
    world.leases.length > 0 ? act(world, pickLate(world.leases, which), how) : undefined

const onTodo =
  (act: (world: World, id: string, how: number) => Promise<unknown>): Act =>
  async (world, { which, how }) =>
    world.todos.length > 0 ? act(world, pickLate(world.todos, which), how) : undefined

/** Some have a budget, of which reports use up any part, and a little time. */
const limited = (how: number) => (how % 4 ? {} : { budget: { max_tokens: 30, max_seconds: 100 } })

const ERROR = { code: 'broken', message: 'It broke' }

const learn = (world: World, worker: EndpointCaller, { id, lease_epoch }: { id: string; lease_epoch: number }) =>
  world.leases.push({ held: { id, leaseEpoch: lease_epoch, endpointId: worker.id }, worker })

const reply = (how: number) =>
  how % 5 === 0
    ? { action: 'decline' as const }
    : { action: 'accept' as const, content: how % 5 === 1 ? { happened: how % 2 > 0 } : { answer: `${how % 2}` } }

const KEYS = ['pay', 'mail']

const HAPPENED: PromptSchema = { type: 'object', properties: { happened: { type: 'boolean' } }, required: ['happened'] }

const ACTS = {
  enqueue: async ({ db, todos, workers }, { which, how }) => {
    const assignee = how % 7 ? {} : { assignee: pick(workers, which).name }
    const key = how % 3 ? { idempotency_key: `key ${how % 4}` } : {}
    const one = {
      queue: pick(QUEUES, which),
      title: 'Work',
      priority: how % 5,
      max_attempts: 1 + (which % 3),
      ...limited(how),
      ...key,
      ...assignee,
    }
    const made = await enqueue(db, how % 2 ? [one] : [one, { ...one, queue: pick(QUEUES, which + 1) }], OPERATOR)
    todos.push(...made.filter(({ created }) => created).map(({ todo }) => todo.id))
  },
  claim: async (world, { which, how }) => {
    const worker = pick(world.workers, which)
    const requestId = how % 3 ? undefined : `request ${how % 5}`
    const claimed = await claim(
      world.db,
      { queues: how % 2 ? undefined : QUEUES, limit: 1 + (how % 3), requestId },
      worker,
    )
    for (const todo of claimed) learn(world, worker, todo)
  },
  claimById: onTodo(async (world, id, how) => {
    const worker = pick(world.workers, how)
    learn(world, worker, await claimById(world.db, id, {}, worker))
  }),
  heartbeat: byHolder(({ db }, { held, worker }, how) =>
    how % 2
      ? heartbeat(db, { ...held, leaseSeconds: 1 + how }, worker)
      : heartbeatMany(db, [{ ...held, usage: { tokens: how } }, held], worker),
  ),
  complete: byHolder(({ db }, { held, worker }, how) =>
    how % 2 ? complete(db, held, worker, { how }) : completeMany(db, [{ ...held, result: how }, held], worker),
  ),
  fail: byHolder(({ db }, { held, worker }, how) =>
    fail(db, held, worker, { error: ERROR, retryable: how % 4 > 0, retryAfterSeconds: how % 2 ? 0 : undefined }),
  ),
  release: byHolder(({ db }, { held, worker }, how) =>
    release(db, held, worker, how % 3 ? {} : { usage: { tokens: how } }),
  ),
  makeChild: byHolder(async ({ db, todos }, { held, worker }, how) => {
    const key = how % 3 ? { idempotency_key: `part ${how % 4}` } : {}
    const of = { parent_id: held.id, parent_epoch: held.leaseEpoch }
    const one = { queue: pick(QUEUES, how), title: 'A part', max_attempts: 1 + (how % 2), ...of, ...key }
    const made = await enqueue(db, how % 2 ? [one] : [one, { ...one, idempotency_key: `part ${how % 5}` }], worker)
    todos.push(...made.filter(({ created }) => created).map(({ todo }) => todo.id))
  }),
  descend: byHolder(async (world, { held, worker }) => {
    const of = { parent_id: held.id, parent_epoch: held.leaseEpoch }
    const [made] = await enqueue(world.db, [{ queue: pick(QUEUES, 0), title: 'A part, begun', ...of }], worker)
    if (!made) return
    world.todos.push(made.todo.id)
    learn(world, worker, await claimById(world.db, made.todo.id, {}, worker))
  }),
  wait: byHolder(({ db }, { held, worker }, how) => wait(db, held, worker, how % 2 ? { checkpoint: { how } } : {})),
  edit: onTodo(async ({ db, workers }, id, how) => {
    const todo = await findTodo(db, id, OPERATOR)
    if (!todo) return
    const deadline_at = pick([null, '2020-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z'], how)
    const changes = [{ deadline_at }, { priority: how % 7 }, { assignee: how % 5 ? pick(workers, how).name : null }]
    await edit(db, id, OPERATOR, { version: todo.version, ...pick<object>(changes, how) })
  }),
  interrupt: byHolder(async ({ db, questions }, { held, worker }, how) => {
    const more = {
      ...(how % 3 ? {} : { request_id: `request ${how % 4}` }),
      ...(how % 4 ? {} : { effect_key: pick(KEYS, how), schema: HAPPENED }),
    }
    const asked = await interrupt(db, held, worker, {
      kind: 'input',
      mode: how % 2 ? 'park' : 'hold',
      title: `Question ${how % 3}?`,
      risk: 'low',
      ...more,
    })
    questions.push(asked.interrupt.id)
  }),
  resume: byHolder(async ({ db, questions }, { held, worker }, how) => {
    if (questions.length > 0) await resume(db, held, worker, { interruptId: pickLate(questions, how), ...reply(how) })
  }),
  park: byHolder(({ db }, { held, worker }, how) => park(db, held, worker, how % 2 ? { how } : undefined)),
  parkForHolder: onTodo(({ db }, id) => parkForHolder(db, id, OPERATOR)),
  beginEffect: byHolder(({ db }, { held, worker }, how) =>
    beginEffect(db, held, worker, {
      key: pick(KEYS, how),
      idempotent: how % 3 === 0,
      request_id: how % 4 ? undefined : `request ${how % 3}`,
    }),
  ),
  reportEffect: byHolder(({ db }, { held, worker }, how) =>
    reportEffect(db, held, worker, { key: pick(KEYS, how), status: how % 3 ? 'failed' : 'confirmed' }),
  ),
  settleEffect: onTodo(({ db }, id, how) =>
    settleEffect(db, id, pick(PEOPLE, how), { key: pick(KEYS, how), happened: how % 3 === 0, comment: 'Seen' }),
  ),
  answer: async ({ db, questions }, { which, how }) => {
    if (questions.length > 0) await answer(db, pickLate(questions, which), pick(PEOPLE, how), reply(how))
  },
  cancel: onTodo(({ db }, id) => cancel(db, id, OPERATOR)),
  reject: onTodo(({ db }, id) => reject(db, id, OPERATOR)),
  requeue: onTodo(({ db, workers }, id, how) =>
    requeue(
      db,
      id,
      OPERATOR,
      how % 2
        ? {}
        : {
            deadline_at: '2099-01-01T00:00:00.000Z',
            budget: { max_tokens: 100 },
            ...(how % 3 ? {} : { assignee: pick(workers, how).name }),
          },
    ),
  ),
  revoke: async (world, { which }) => {
    const worker = pick(world.workers, which)
    await replace(world, worker)
    await revokeEndpoint(world.db, worker.name)
  },
  expireEndpoint: async (world, { which }) => {
    const worker = pick(world.workers, which)
    await replace(world, worker)
    await world.db.query({ text: 'UPDATE endpoints SET expires_at = now() WHERE id = $1', values: [worker.id] })
  },
  forget: async ({ db }, { how }) => {
    const bound = await laterBound(db, pick([1, 30], how), null)
    if (bound) await forgetTodos(db, bound)
    await pruneAttempts(db, 5)
  },
  tighten: onTodo(({ db }, id) => db.query({ text: TIGHTEN, values: [id] })),
  passTime: onTodo(({ db }, id, how) =>
    db.query({ text: PASS_TIME, values: [id, pick([-60, 1], how), pick([60, DAY + 1], how >> 1)] }),
  ),
  sweep: async ({ db }, { how }) => pick(SWEEPS, how)(db),
} satisfies Record<string, Act>

const expireQuestions = (db: Db) => expireInterrupts(db, { ttlSeconds: DAY })

const expireUnheld = (db: Db) => expireParked(db, { ttlSeconds: DAY })

const SWEEPS = [
  expireDeadlines,
  expireLeases,
  exhaust,
  expireQuestions,
  expireUnheld,
  continueParents,
  expireBudgets,
  expireEndpoints,
]

// What an operator's edit may do to a pending todo: take away the allowance it had left.
const TIGHTEN = `UPDATE todos SET max_attempts = greatest(1, failures + lease_expirations, wait_expirations + 1) WHERE id = $1 AND state = 'pending'`

// One statement, since the todo may move on while it waits: whatever clock runs for it then has run out, or nearly.
const PASS_TIME = `UPDATE todos SET
    available_at = CASE WHEN state = 'pending' THEN now() ELSE available_at END,
    lease_expires_at = CASE WHEN owner IS NOT NULL THEN now() - make_interval(secs => $2) END,
    interrupted_at = interrupted_at - make_interval(secs => $3),
    state_since = state_since - make_interval(secs => $3),
    completed_at = completed_at - make_interval(secs => $3)
  WHERE id = $1`

/** Any step; those that keep work going come more often. */
export const anyStep: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom(
    ...(Object.keys(ACTS) as Step['act'][]),
    ...([
      'enqueue',
      'claim',
      'claim',
      'interrupt',
      'answer',
      'beginEffect',
      'makeChild',
      'descend',
      'wait',
      'complete',
      'passTime',
      'sweep',
    ] as const),
  ),
  which: fc.nat(60),
  how: fc.nat(60),
})

/** Takes one step. A refusal is a normal answer; anything else thrown is a fault. */
export async function take(world: World, step: Step): Promise<void> {
  try {
    await ACTS[step.act](world, step)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
  }
}
