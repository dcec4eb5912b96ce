import { isDeepStrictEqual } from 'node:util'
import { v7 as uuidv7 } from 'uuid'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { count } from '#lib/ops/metrics'
import { argumentsHash } from '#lib/wire/arguments-hash'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Effect } from '#lib/wire/effect'
import type { Interrupt, InterruptKind } from '#lib/wire/interrupt'
import type { PromptSchema } from '#lib/wire/prompt-schema'
import { saidBy } from '#lib/wire/same-question'
import type { Todo } from '#lib/wire/todo'
import { exceedBudgets } from './budget'
import { findEffect } from './effect-row'
import { HELD_BY, HELD_INPUT, heldRow } from './held'
import { interruptColumns, interruptOf } from './interrupt-row'
import { move } from './move'
import type { Moved } from './moved'
import type { Plan } from './plan'
import type { Usage } from './usage'
import { findTodo, type Held, holds, refuse, repeated, whyNotHeld } from './why-not'

/** A question to a human. */
export interface Question {
  kind: InterruptKind
  /** Who keeps the todo meanwhile: this worker (hold), or nobody (park). */
  mode?: Interrupt['mode']
  title: string
  message?: string | undefined
  schema?: PromptSchema | undefined
  ui?: unknown
  url?: string | undefined
  proposal?: { action: string; arguments?: unknown } | undefined
  risk: Interrupt['risk']
  for?: string | undefined
  effect_key?: string | undefined
  request_id?: string | undefined
  /** What whoever goes on after a parked one begins with. */
  checkpoint?: unknown
}

/** A question with what its claim has used. */
export type Reporting = Question & { usage?: Usage | undefined }

/** A question that is open, its todo, and whether this call asked it. */
export interface Asked {
  todo: Todo
  interrupt: Interrupt
  created: boolean
}

/** The question was not asked: what the call reports put the todo over its budget. */
export type NotAsked = Omit<Asked, 'interrupt'> & { interrupt: null }

// Form and proposal as text: a jsonb column would not keep the order people are shown them in.
const QUESTION = {
  interrupt_id: 'text',
  kind: 'text',
  title: 'text',
  message: 'text',
  schema: 'text',
  ui: 'jsonb',
  url: 'text',
  proposal: 'text',
  risk: 'text',
  addressed_to: 'text',
  effect_key: 'text',
  request_id: 'text',
  checkpoint: 'jsonb',
  usage: 'jsonb',
}

const plan = (mode: Interrupt['mode'], more: Partial<Plan>): Plan => ({
  transition: 'interrupt',
  input: { ...HELD_INPUT, ...QUESTION },
  pick: { named: HELD_BY },
  ...more,
  set: {
    result: `jsonb_build_object('interrupt', jsonb_build_object('id', p.in_interrupt_id, 'kind', p.in_kind,
      'title', p.in_title, 'message', p.in_message, 'schema', p.in_schema::jsonb))`,
    ...more.set,
  },
  also: {
    opened: `INSERT INTO interrupts (id, todo_id, attempt_seq, lease_epoch, request_id, effect_key, addressed_to, kind, mode,
        title, message, schema, ui, url, proposal, risk, requested_by_endpoint_id)
      SELECT m.in_interrupt_id, m.id, m.attempts, m.lease_epoch, m.in_request_id, m.in_effect_key, m.in_addressed_to,
        m.in_kind, '${mode}', m.in_title, m.in_message, m.in_schema::json, m.in_ui, m.in_url, m.in_proposal::json, m.in_risk,
        m.in_endpoint_id FROM moved m`,
  },
  data: `jsonb_build_object('interrupt_id', m.in_interrupt_id, 'kind', m.in_kind, 'mode', '${mode}', 'title', m.in_title)`,
})

const PLANS = {
  hold: plan('hold', {}),
  park: plan('park', {
    transition: 'interruptParked',
    set: { checkpoint: 'coalesce(p.in_checkpoint, t.checkpoint)' },
  }),
}

/**
 * Asks a human: the worker keeps the lease and goes on itself (hold), or lets go of it and leaves a checkpoint for
 * whoever claims the todo once it is answered (park). Repeated under its `request_id`, or with an equal body while open,
 * it answers with the stored question. Refuses with validation_failed (it asks about an effect nobody is in doubt of),
 * another open question with interrupt_open, else as complete does.
 */
export function interrupt(
  db: Db,
  held: Held,
  caller: EndpointCaller,
  question: Question & { usage?: never },
): Promise<Asked>
export function interrupt(db: Db, held: Held, caller: EndpointCaller, question: Reporting): Promise<Asked | NotAsked>
export async function interrupt(
  db: Db,
  held: Held,
  caller: EndpointCaller,
  question: Reporting,
): Promise<Asked | NotAsked> {
  const before = await askedBefore(db, held, caller, question)
  if (before) return before
  if (question.effect_key !== undefined) await mustBeInDoubt(db, held, caller, question.effect_key)
  const [over] = await exceedBudgets(db, [{ ...held, usage: question.usage }])
  if (over) return { todo: over, interrupt: null, created: false }
  const id = uuidv7()
  const row = heldRow(held, await inputOf(id, question))
  const ask = (at: Db) => move(at, PLANS[question.mode ?? 'hold'], [row])
  const { effect_key: key } = question
  const [moved] = await (key === undefined ? ask(db) : whileInDoubt(db, held, { key, ask })).catch(ignoreTwin)
  if (moved) {
    const labels = { queue: moved.todo.queue, kind: question.kind }
    db.afterCommit(() => count('switchboard_interrupts_opened_total', labels))
    return { todo: moved.todo, interrupt: (await findInterrupt(db, id)) as Interrupt, created: true }
  }
  const meanwhile = await askedBefore(db, held, caller, question)
  if (meanwhile) return meanwhile
  const ended = question.usage && (await repeated(db, held, ['budget']))
  if (ended) return { todo: ended, interrupt: null, created: false }
  throw await whyNotAsked(db, held, caller)
}

const inputOf = async (id: string, { schema, proposal, ...question }: Reporting) => ({
  ...question,
  interrupt_id: id,
  addressed_to: question.for,
  schema: schema && JSON.stringify(schema),
  proposal: proposal && JSON.stringify(await proposed(proposal)),
})

const proposed = async ({ action, arguments: given = null }: NonNullable<Question['proposal']>) => ({
  action,
  arguments: given,
  arguments_hash: await argumentsHash(given),
})

/** Refuses a question about an effect that this todo has not begun, or that is known to have happened or not. */
async function mustBeInDoubt(db: Db, held: Held, caller: EndpointCaller, key: string): Promise<void> {
  const effect = await findEffect(db, held.id, key)
  if (effect?.status === 'begun') return
  const todo = await findTodo(db, held.id, caller)
  if (!todo || !holds(todo, held)) throw await whyNotHeld(db, held, caller, 'interrupt')
  throw notInDoubt(effect)
}

/** Asks once the todo is locked, when the effect is in doubt still: its worker's word may have come meanwhile. */
function whileInDoubt(db: Db, held: Held, { key, ask }: { key: string; ask: (at: Db) => Promise<Moved[]> }) {
  return db.transaction(async (tx) => {
    const text = `SELECT t.id FROM (SELECT $1::text AS id, $2::text AS endpoint_id, $3::bigint AS lease_epoch) i
      JOIN todos t ON t.id = i.id WHERE ${HELD_BY} FOR UPDATE OF t`
    const values = [held.id, held.endpointId, held.leaseEpoch]
    const isHeld = (await tx.query({ name: 'lock_held', text, values })).length > 0
    const effect = isHeld ? await findEffect(tx, held.id, key) : null
    if (effect && effect.status !== 'begun') throw notInDoubt(effect)
    return ask(tx)
  })
}

function notInDoubt(effect: Effect | null): Refusal {
  const message = effect ? `the effect is ${effect.status}` : 'no such effect was begun'
  return new Refusal('validation_failed', { errors: [{ pointer: '/effect_key', message }] })
}

async function whyNotAsked(db: Db, held: Held, caller: EndpointCaller) {
  const todo = await findTodo(db, held.id, caller)
  if (todo?.open_interrupt_id && holds(todo, held))
    return refuse('interrupt_open', todo, 'Another question of this todo is open')
  return whyNotHeld(db, held, caller, 'interrupt')
}

// Two calls under one request id: the unique index lets one through, and the other finds it.
function ignoreTwin(error: unknown): [] {
  if ((error as { constraint?: string }).constraint === 'interrupts_request') return []
  throw error
}

async function askedBefore(db: Db, held: Held, caller: EndpointCaller, question: Question): Promise<Asked | null> {
  const [row] = await db.query({
    name: 'asked_before',
    text: `SELECT ${interruptColumns('q')} FROM interrupts q WHERE q.todo_id = $1 AND q.lease_epoch = $2::bigint
      AND q.requested_by_endpoint_id = $3 AND CASE WHEN $4::text IS NULL THEN q.status = 'open' ELSE q.request_id = $4 END`,
    values: [held.id, held.leaseEpoch, held.endpointId, question.request_id ?? null],
  })
  if (!row) return null
  const stored = interruptOf(row)
  if (question.request_id === undefined && !isSame(stored, question)) return null
  const todo = (await findTodo(db, held.id, caller)) as Todo
  return { todo, interrupt: stored, created: false }
}

// A held question may have been parked since; one that was to be parked and is held is another.
const isSame = (stored: Interrupt, question: Question): boolean =>
  (stored.mode === 'park' || question.mode !== 'park') && isDeepStrictEqual(saidBy(stored), saidBy(question))

/** The interrupt of this id, or null. */
export async function findInterrupt(db: Db, id: string): Promise<Interrupt | null> {
  const text = `SELECT ${interruptColumns('q')} FROM interrupts q WHERE q.id = $1`
  const [row] = await db.query({ name: 'find_interrupt', text, values: [id] })
  return row ? interruptOf(row) : null
}
