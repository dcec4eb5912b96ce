import { isDeepStrictEqual } from 'node:util'
import { v7 as uuidv7 } from 'uuid'
import type { Db } from '#lib/db/connect'
import { count } from '#lib/ops/metrics'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Interrupt, InterruptKind } from '#lib/wire/interrupt'
import type { PromptSchema } from '#lib/wire/prompt-schema'
import type { Todo } from '#lib/wire/todo'
import { HELD_BY, HELD_INPUT, heldRow } from './held'
import { interruptColumns, interruptOf } from './interrupt-row'
import { move, type Plan } from './move'
import { findTodo, type Held, holds, refuse, whyNotHeld } from './why-not'

/** A question to a human. */
export interface Question {
  kind: InterruptKind
  title: string
  message?: string | undefined
  schema?: PromptSchema | undefined
  ui?: unknown
  url?: string | undefined
  risk: 'low' | 'medium' | 'high' | 'critical'
  for?: string | undefined
  request_id?: string | undefined
}

/** A question that is open, its todo, and whether this call asked it. */
export interface Asked {
  todo: Todo
  interrupt: Interrupt
  created: boolean
}

const QUESTION = `interrupt_id text, kind text, title text, message text, schema jsonb, ui jsonb, url text, risk text,
  addressed_to text, request_id text`

const INTERRUPT: Plan = {
  transition: 'interrupt',
  input: {
    ...HELD_INPUT,
    ...Object.fromEntries(QUESTION.split(',').map((column) => column.trim().split(' ') as [string, string])),
  },
  pick: { named: HELD_BY },
  set: {
    result: `jsonb_build_object('interrupt', jsonb_build_object('id', p.in_interrupt_id, 'kind', p.in_kind,
      'title', p.in_title, 'message', p.in_message, 'schema', p.in_schema))`,
  },
  opens: `INSERT INTO interrupts (id, todo_id, attempt_seq, lease_epoch, request_id, addressed_to, kind, mode, title,
      message, schema, ui, url, risk, requested_by_endpoint_id)
    SELECT m.in_interrupt_id, m.id, m.attempts, m.lease_epoch, m.in_request_id, m.in_addressed_to, m.in_kind, 'hold',
      m.in_title, m.in_message, m.in_schema, m.in_ui, m.in_url, m.in_risk, m.in_endpoint_id FROM moved m`,
  data: `jsonb_build_object('interrupt_id', m.in_interrupt_id, 'kind', m.in_kind, 'mode', 'hold', 'title', m.in_title)`,
}

/**
 * Asks a human and keeps the lease, so that the same worker goes on. Repeated under its `request_id`, or with an equal
 * body while open, it answers with the stored question. Refuses another with interrupt_open, else as complete does.
 */
export async function interrupt(db: Db, held: Held, caller: EndpointCaller, question: Question): Promise<Asked> {
  const before = await askedBefore(db, held, caller, question)
  if (before) return before
  const id = uuidv7()
  const input = { ...question, interrupt_id: id, addressed_to: question.for }
  const [moved] = await move(db, INTERRUPT, [heldRow(held, input)]).catch(ignoreTwin)
  if (moved) {
    const labels = { queue: moved.todo.queue, kind: question.kind }
    db.afterCommit(() => count('switchboard_interrupts_opened_total', labels))
    return { todo: moved.todo, interrupt: (await findInterrupt(db, id)) as Interrupt, created: true }
  }
  const meanwhile = await askedBefore(db, held, caller, question)
  if (meanwhile) return meanwhile
  throw await whyNotAsked(db, held, caller)
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
  if (question.request_id === undefined && !isDeepStrictEqual(bodyOf(stored), bodyOf(question))) return null
  const todo = (await findTodo(db, held.id, caller)) as Todo
  return { todo, interrupt: stored, created: false }
}

const bodyOf = ({ kind, title, message, schema, ui, url, risk, for: whom }: Question | Interrupt) =>
  [kind, title, message, schema, ui, url, risk, whom].map((part) => part ?? null)

/** The interrupt of this id, or null. */
export async function findInterrupt(db: Db, id: string): Promise<Interrupt | null> {
  const text = `SELECT ${interruptColumns('q')} FROM interrupts q WHERE q.id = $1`
  const [row] = await db.query({ name: 'find_interrupt', text, values: [id] })
  return row ? interruptOf(row) : null
}
