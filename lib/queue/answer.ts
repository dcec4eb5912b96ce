import { isDeepStrictEqual } from 'node:util'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { actorOf, type Caller, type EndpointCaller } from '#lib/wire/caller'
import type { Interrupt } from '#lib/wire/interrupt'
import type { Todo } from '#lib/wire/todo'
import { checkContent, type Reply } from './content'
import { SETTLES } from './effect-row'
import { HELD_BY, HELD_INPUT, heldRow } from './held'
import { findInterrupt } from './interrupt'
import { move } from './move'
import type { Plan } from './plan'
import { findTodo, type Held, holds, refuse, whyNotHeld } from './why-not'

/** The input of whatever closes a question with what was said. */
export const REPLY = {
  interrupt_id: 'text',
  answered_by: 'text',
  channel: 'text',
  action: 'text',
  content: 'jsonb',
  comment: 'text',
}

/** The guard of whatever closes a question: it is the one that is open. */
export const ASKED = 't.open_interrupt_id = i.interrupt_id'

/** What a held question's answer sets: its worker goes on, the lease armed anew. */
export const GO_ON = {
  result: 'NULL',
  lease_expires_at: 'greatest(t.lease_expires_at, now() + make_interval(secs => t.lease_seconds))',
}

/** What the log keeps of an answer. */
export const ANSWER_DATA = `jsonb_build_object('interrupt_id', m.in_interrupt_id, 'action', m.in_action, 'channel', m.in_channel,
  'answered_by', m.in_answered_by)`

/** What a parked question's answer sets: anybody may go on, now. */
export const CLAIMABLE = { result: 'NULL', available_at: 'now()' }

const ANSWER: Plan = {
  transition: 'answer',
  input: REPLY,
  pick: { named: `${ASKED} AND t.owner IS NOT NULL` },
  set: GO_ON,
  data: ANSWER_DATA,
  also: SETTLES,
}

const ANSWER_PARKED: Plan = {
  ...ANSWER,
  transition: 'answerParked',
  pick: { named: `${ASKED} AND t.owner IS NULL` },
  set: CLAIMABLE,
}

const RESUME: Plan = {
  transition: 'resume',
  input: { ...HELD_INPUT, ...REPLY },
  pick: { named: `${ASKED} AND ${HELD_BY}` },
  set: GO_ON,
  data: ANSWER_DATA,
}

/** A question that has been answered, and its todo as it goes on. */
export interface Answered {
  interrupt: Interrupt
  todo: Todo
}

/**
 * Answers one question, by its id. A held one goes on with its worker, whose lease is armed anew; a parked one becomes
 * claimable by anybody. One that asks whether an effect happened settles it. The first answer wins: the same caller
 * sending the same again gets the stored one. Refuses with not_found, validation_failed, forbidden (an approval, or
 * whether its effect happened, by who asked), already_answered (with who and when), interrupt_closed.
 */
export async function answer(db: Db, interruptId: string, caller: Caller, reply: Reply): Promise<Answered> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const asked = await findInterrupt(db, interruptId)
    const todo = asked && (await findTodo(db, asked.todo_id, caller))
    if (!asked || !todo) throw new Refusal('not_found', { detail: 'There is no such question' })
    mayAnswer(asked, caller)
    if (asked.status !== 'open') return answeredBefore(db, asked, caller, reply)
    checkContent(asked, reply)
    const input = { ...reply, interrupt_id: asked.id, answered_by: actorOf(caller), channel: caller.channel }
    const plan = asked.mode === 'park' ? ANSWER_PARKED : ANSWER
    const [moved] = await move(db, plan, [{ id: todo.id, actor: actorOf(caller), ...input }])
    if (moved) return { interrupt: (await findInterrupt(db, asked.id)) as Interrupt, todo: moved.todo }
    // Answered, closed or parked between look and lock: the next look tells.
  }
  throw new Refusal('unavailable', { detail: 'The question kept changing; try again' })
}

// It can be parked once and closed once.
const MOST_LOOKS = 4

/** Who asks for an approval, or doubts whether its own effect happened, can't be who answers. */
function mayAnswer(asked: Interrupt, caller: Caller): void {
  if (caller.type === 'person' || caller.id !== asked.requested_by_endpoint_id) return
  if (asked.kind === 'approval') throw new Refusal('forbidden', { detail: 'Who asks for an approval cannot give it' })
  if (asked.effect_key !== null)
    throw new Refusal('forbidden', { detail: 'Who asks whether it happened cannot say so' })
}

/** The stored answer when the caller repeats its own; the refusal of every other second answer. */
async function answeredBefore(db: Db, stored: Interrupt, caller: Caller, reply: Reply): Promise<Answered> {
  const todo = await findTodo(db, stored.todo_id, caller)
  if (!todo) throw new Refusal('not_found', { detail: 'There is no such question' })
  if (isClosed(stored)) throw closed(stored, todo)
  if (stored.answered_by === actorOf(caller) && isDeepStrictEqual(bodyOf(stored), bodyOf(reply))) {
    return { interrupt: stored, todo }
  }
  const { answered_by, answered_at } = stored
  const detail = `${answered_by} answered at ${answered_at}`
  throw new Refusal('already_answered', { detail, state: todo.state, answered_by, answered_at })
}

const isClosed = ({ status }: Interrupt): boolean => status === 'expired' || status === 'canceled'

const closed = ({ status }: Interrupt, todo: Todo): Refusal =>
  refuse('interrupt_closed', todo, `The question is ${status}`)

const bodyOf = ({ action, content, comment }: Reply | Interrupt) => [action, content ?? null, comment ?? null]

/** The answer a holder got by itself. */
export interface Resumption extends Reply {
  interruptId: string
}

/**
 * The holder goes on, giving the answer it got by itself. Answered meanwhile by somebody, it gets that answer and its own
 * is ignored. Refuses with not_found, forbidden (an approval), validation_failed, interrupt_closed, else as complete does.
 */
export async function resume(db: Db, held: Held, caller: EndpointCaller, resumption: Resumption): Promise<Answered> {
  const { interruptId, ...reply } = resumption
  const asked = await findInterrupt(db, interruptId)
  if (asked?.todo_id !== held.id) {
    const refusal = await whyNotHeld(db, held, caller, 'resume')
    throw refusal.code === 'invalid_state' ? new Refusal('not_found', { detail: 'There is no such question' }) : refusal
  }
  mayAnswer(asked, caller)
  if (asked.status === 'open') checkContent(asked, reply)
  const input = { ...reply, interrupt_id: asked.id, answered_by: `worker:${caller.name}`, channel: caller.channel }
  const [moved] = await move(db, RESUME, [heldRow(held, input)])
  const stored = (await findInterrupt(db, asked.id)) as Interrupt
  if (moved) return { interrupt: stored, todo: moved.todo }
  return resumedBefore(db, held, caller, stored)
}

/** The stored answer for who holds the todo or has resumed it in this epoch; the refusal of everybody else. */
async function resumedBefore(db: Db, held: Held, caller: EndpointCaller, stored: Interrupt): Promise<Answered> {
  const todo = await findTodo(db, held.id, caller)
  if (todo && stored.answered_at && (holds(todo, held) || isOwn(stored, held))) return { interrupt: stored, todo }
  if (todo && holds(todo, held) && isClosed(stored)) throw closed(stored, todo)
  throw await whyNotHeld(db, held, caller, 'resume')
}

const isOwn = (stored: Interrupt, held: Held): boolean =>
  stored.status === 'resolved' &&
  stored.lease_epoch === held.leaseEpoch &&
  stored.requested_by_endpoint_id === held.endpointId
