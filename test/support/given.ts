import type { Db } from '#lib/db/connect'
import type { State } from '#lib/model/states'
import { beginEffect, type Declaration } from '#lib/queue/begin-effect'
import { cancel, reject } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { enqueue, type NewTodo } from '#lib/queue/enqueue'
import { expireLeases } from '#lib/queue/expire'
import { fail } from '#lib/queue/fail'
import { interrupt, type Question } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import { wait } from '#lib/queue/wait'
import { findTodo, type Held } from '#lib/queue/why-not'
import type { Caller, EndpointCaller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { endpoint, person } from './callers'
import { backdate, type Past } from './clock'

/** The endpoint that does the work when a test doesn't say which. */
export const WORKER = endpoint('worker-1')

/** The person that acts when a test doesn't say who. */
export const OPERATOR = person('operator-1')

/** The effect a test means when it doesn't say which. */
export const PAY: Declaration = { key: 'pay', idempotent: false }

/** What a given todo is like beside its state. */
export interface Circumstances {
  /** Columns as enqueued. */
  todo?: Partial<NewTodo>
  /** Who enqueues it, claims it and asks. */
  creator?: Caller
  worker?: EndpointCaller
  leaseSeconds?: number
  question?: Partial<Question>
  /** An effect its worker begins before anything else; who never was claimed is claimed and given back for that. */
  effect?: Partial<Declaration>
  /** Executions spent before: reported failures, then lost leases. */
  failures?: number
  leaseExpirations?: number
  /** How many seconds ago a column's time shall lie, in the end; a negative number lies ahead. */
  ago?: Past
}

/** A todo that stands as asked for; its lease, which may be over; its question, if it has or had one. */
export interface Given {
  id: string
  todo: Todo
  held: Held
  worker: EndpointCaller
  interruptId: string
}

/** Brings a todo into a state through the real verbs, then moves its row into the past. */
export async function given(db: Db, state: State, circumstances: Circumstances = {}): Promise<Given> {
  const { worker = WORKER, ago } = circumstances
  const id = await enqueued(db, circumstances)
  await spend(db, id, circumstances)
  if (circumstances.effect && NEVER_CLAIMED.includes(state)) {
    await release(db, await claimed({ db, id, worker, circumstances }), worker)
  }
  const made = await BUILD[state]({ db, id, worker, circumstances })
  if (ago) await backdate(db, id, ago)
  const todo = await now(db, id)
  const held = { id, leaseEpoch: todo.lease_epoch, endpointId: worker.id }
  return { id, todo, held, worker, interruptId: made ?? '' }
}

const NEVER_CLAIMED: readonly State[] = ['pending', 'canceled', 'rejected']

/** The todo as it stands now. */
export async function now(db: Db, id: string): Promise<Todo> {
  const todo = await findTodo(db, id, OPERATOR)
  if (!todo) throw new Error(`There is no todo ${id}`)
  return todo
}

interface Building {
  db: Db
  id: string
  worker: EndpointCaller
  circumstances: Circumstances
}

const BUILD: Record<State, (building: Building) => Promise<string | undefined>> = {
  pending: async () => undefined,
  claimed: async (building) => void (await claimed(building)),
  'input-required': (building) => asked(building, { kind: 'input' }),
  'auth-required': (building) => asked(building, { kind: 'auth', url: 'https://sign-in.example/' }),
  waiting: async (building) => {
    const held = await claimed(building)
    await child(building.db, held, building.worker)
    await wait(building.db, held, building.worker)
    return undefined
  },
  completed: async (building) => void (await complete(building.db, await claimed(building), building.worker, null)),
  failed: async (building) => {
    const failure = { error: { code: 'broken', message: 'It broke' }, retryable: false }
    await fail(building.db, await claimed(building), building.worker, failure)
    return undefined
  },
  canceled: async ({ db, id }) => void (await cancel(db, id, OPERATOR)),
  rejected: async ({ db, id }) => void (await reject(db, id, OPERATOR)),
}

async function enqueued(db: Db, { todo, creator = OPERATOR }: Circumstances): Promise<string> {
  const [made] = await enqueue(db, [{ queue: 'main', title: 'Some work', ...todo }], creator)
  return (made as { todo: Todo }).todo.id
}

/** A child that the holder of this lease makes. */
export async function child(
  db: Db,
  held: Held,
  worker: EndpointCaller = WORKER,
  todo: Partial<NewTodo> = {},
): Promise<Todo> {
  const parent = { parent_id: held.id, parent_epoch: held.leaseEpoch }
  const [made] = await enqueue(db, [{ queue: 'main', title: 'A part of it', ...parent, ...todo }], worker)
  return (made as { todo: Todo }).todo
}

async function claimed({ db, id, worker, circumstances }: Building): Promise<Held> {
  const { lease_epoch } = await claimById(db, id, { leaseSeconds: circumstances.leaseSeconds }, worker)
  const held = { id, leaseEpoch: lease_epoch, endpointId: worker.id }
  if (circumstances.effect) await beginEffect(db, held, worker, { ...PAY, ...circumstances.effect })
  return held
}

async function asked(building: Building, question: Pick<Question, 'kind' | 'url'>): Promise<string> {
  const { db, worker, circumstances } = building
  const held = await claimed(building)
  const whole: Question = { risk: 'medium', title: 'Which one?', ...question, ...circumstances.question }
  return (await interrupt(db, held, worker, whole)).interrupt.id
}

async function spend(db: Db, id: string, circumstances: Circumstances): Promise<void> {
  const { failures = 0, leaseExpirations = 0, worker = WORKER } = circumstances
  const building = { db, id, worker, circumstances }
  for (let n = 0; n < failures; n++) {
    await fail(db, await claimed(building), worker, {
      error: { code: 'again', message: 'Again' },
      retryAfterSeconds: 0,
    })
  }
  for (let n = 0; n < leaseExpirations; n++) {
    await claimed(building)
    await backdate(db, id, { lease_expires_at: 1 })
    await expireLeases(db)
    await backdate(db, id, { available_at: 0 })
  }
}
