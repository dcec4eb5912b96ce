import { v7 as uuidv7 } from 'uuid'
import { ring } from '#lib/db/bell'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Effect } from '#lib/wire/effect'
import { APPROVED, approvalSeconds, USED, whyNotApproved } from './approval'
import { effectColumns, findEffect } from './effect-row'
import { HELD_BY, HELD_INPUT, heldRow } from './held'
import { givenSql } from './move'
import { recentSettings } from './settings'
import { findTodo, type Held, holds, refuse, whyNotHeld } from './why-not'

/** An outside effect as its worker declares it, before doing it. */
export interface Declaration {
  key: string
  /** Whether doing it twice does no harm. */
  idempotent: boolean
  arguments_hash?: string | undefined
  /** The approval it needs. */
  interrupt_id?: string | undefined
  request_id?: string | undefined
  description?: string | undefined
}

/** An effect that may be done now (`begun`), or one that is done already: its outcome is stored. */
export interface Begun {
  effect: Effect
  begun: boolean
}

const DECLARED = {
  id: 'text',
  ...HELD_INPUT,
  effect_id: 'text',
  key: 'text',
  idempotent: 'boolean',
  arguments_hash: 'text',
  interrupt_id: 'text',
  request_id: 'text',
  description: 'text',
  low: 'bigint',
  medium: 'bigint',
  high: 'bigint',
  critical: 'bigint',
}

// What a row that is there is overwritten with: who begins it again, and nothing of how it ended before.
const AGAIN = [
  'idempotent',
  'lease_epoch',
  'endpoint_id',
  'request_id',
  'arguments_hash',
  'interrupt_id',
  'description',
]
  .map((column) => `${column} = EXCLUDED.${column}`)
  .join(', ')

// A conflict waits for whoever wrote the row and judges what it has become, so no stale outcome can be overwritten.
const BEGIN = `WITH i AS MATERIALIZED (${givenSql(DECLARED)}),
  held AS MATERIALIZED (
    SELECT t.queue, t.attempts, t.owner, i.* FROM i JOIN todos t ON t.id = i.id
    WHERE (t.state = 'claimed') IS TRUE AND ${HELD_BY} AND t.lease_expires_at > now() FOR UPDATE OF t),
  begun AS (
    INSERT INTO effects AS e (id, todo_id, key, idempotent, lease_epoch, endpoint_id, request_id, arguments_hash,
      interrupt_id, description)
    SELECT h.effect_id, h.id, h.key, h.idempotent, h.lease_epoch, h.endpoint_id, h.request_id, h.arguments_hash,
      h.interrupt_id, h.description
    FROM held h WHERE h.interrupt_id IS NULL OR ${APPROVED}
    ON CONFLICT (todo_id, key) DO UPDATE SET ${AGAIN}, status = 'begun', begun_at = now(), ended_at = NULL, result = NULL,
      settled_by = NULL, comment = NULL
    WHERE e.status = 'failed' OR (e.status = 'begun' AND e.idempotent AND EXCLUDED.idempotent)
    RETURNING ${effectColumns('e')}),
  logged AS (
    INSERT INTO todo_events (todo_id, queue, verb, actor, attempt_seq, lease_epoch, data)
    SELECT h.id, h.queue, 'effect_begun', 'worker:' || h.owner, h.attempts, h.lease_epoch,
      jsonb_build_object('effect_id', b.id, 'key', b.key, 'idempotent', b.idempotent, 'interrupt_id', b.interrupt_id)
    FROM held h JOIN begun b ON true)
  SELECT * FROM begun`

const MOST_LOOKS = 4

/**
 * Declares an effect before it is done, and commits that (domain.md, Effects). One that was confirmed is answered with
 * its outcome; one that certainly didn't happen, or may happen twice, is begun again. Refuses as complete does, with
 * invalid_state when the lease has lapsed, effect_uncertain, approval_mismatch.
 */
export async function beginEffect(
  db: Db,
  held: Held,
  caller: EndpointCaller,
  declaration: Declaration,
): Promise<Begun> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const effect = await begin(db, held, declaration)
    if (effect) return { effect, begun: true }
    const before = await begunBefore(db, held, caller, declaration)
    if (before) return { effect: before, begun: false }
    // What stood in the way has gone: an approval given while the statement waited, say.
  }
  throw new Refusal('unavailable', { detail: 'The effect kept changing; try again' })
}

async function begin(db: Db, held: Held, declaration: Declaration): Promise<Effect | null> {
  const seconds = declaration.interrupt_id === undefined ? {} : approvalSeconds(await recentSettings(db))
  const row = heldRow(held, { ...declaration, ...seconds, effect_id: uuidv7() })
  try {
    const [effect] = await db.query<Effect>({ name: 'begin_effect', text: BEGIN, values: [JSON.stringify([row])] })
    if (effect) db.afterCommit(() => ring(db.root, 'log'))
    return effect ?? null
  } catch (error) {
    if ((error as { constraint?: string }).constraint !== 'effects_interrupt') throw error
    throw new Refusal('approval_mismatch', { ...USED })
  }
}

/** The stored effect that answers this begin; null when nothing stands in its way any more. Else the refusal. */
async function begunBefore(
  db: Db,
  held: Held,
  caller: EndpointCaller,
  declaration: Declaration,
): Promise<Effect | null> {
  const todo = await findTodo(db, held.id, caller)
  if (!todo || !holds(todo, held) || todo.state !== 'claimed') throw await whyNotHeld(db, held, caller, 'begin')
  const effect = await findEffect(db, held.id, declaration.key)
  if (effect?.status === 'confirmed') return effect
  const isBegun = effect?.status === 'begun' && !(effect.idempotent && declaration.idempotent)
  if (effect && isBegun && isRepeat(effect, held, declaration)) return effect
  if (await hasLapsed(db, held)) throw refuse('invalid_state', todo, 'The lease has lapsed: a heartbeat first')
  if (effect && isBegun) {
    const detail = `Epoch ${effect.lease_epoch} began ${effect.key} and nobody knows whether it happened`
    throw new Refusal('effect_uncertain', {
      detail,
      state: todo.state,
      effect_id: effect.id,
      begun_at: effect.begun_at,
    })
  }
  if (declaration.interrupt_id === undefined) return null
  const why = await whyNotApproved(db, { todo, declaration })
  if (why) throw new Refusal('approval_mismatch', { ...why, state: todo.state })
  return null
}

const isRepeat = (effect: Effect, held: Held, { request_id }: Declaration): boolean =>
  effect.lease_epoch === held.leaseEpoch && request_id !== undefined && effect.request_id === request_id

async function hasLapsed(db: Db, held: Held): Promise<boolean> {
  const text = 'SELECT FROM todos WHERE id = $1 AND lease_expires_at <= now()'
  return (await db.query({ name: 'has_lapsed', text, values: [held.id] })).length > 0
}
