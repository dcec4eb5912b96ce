import { ring } from '#lib/db/bell'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { actorOf, type EndpointCaller, type PersonCaller } from '#lib/wire/caller'
import type { Effect } from '#lib/wire/effect'
import type { Todo } from '#lib/wire/todo'
import { answer } from './answer'
import { effectColumns, findEffect, SETTLED_DATA } from './effect-row'
import { HELD_INPUT, heldRow } from './held'
import { givenSql } from './move'
import { fence, findTodo, type Held, holds, refuse } from './why-not'

const told = (db: Db): void => db.afterCommit(() => ring(db.root, 'log'))

/** What the worker that began an effect knows of it. */
export interface Report {
  key: string
  status: 'confirmed' | 'failed'
  result?: unknown
}

const REPORTED = { id: 'text', ...HELD_INPUT, key: 'text', status: 'text', result: 'jsonb', owner: 'text' }

const REPORT = `WITH i AS (${givenSql(REPORTED)}),
  ended AS (
    UPDATE effects e SET status = i.status, result = i.result, ended_at = now(), settled_by = NULL, comment = NULL
    FROM i WHERE e.todo_id = i.id AND e.key = i.key AND e.lease_epoch = i.lease_epoch AND e.endpoint_id = i.endpoint_id
      AND (e.status = 'begun' OR e.settled_by IS NOT NULL)
    RETURNING e.*),
  logged AS (
    INSERT INTO todo_events (todo_id, queue, verb, actor, attempt_seq, lease_epoch, data)
    SELECT e.todo_id, t.queue, 'effect_settled', 'worker:' || coalesce(a.owner, i.owner), a.seq, e.lease_epoch, ${SETTLED_DATA}
    FROM i CROSS JOIN ended e JOIN todos t ON t.id = e.todo_id
    LEFT JOIN todo_attempts a ON a.todo_id = e.todo_id AND a.lease_epoch = e.lease_epoch)
  SELECT ${effectColumns('e')} FROM ended e`

/**
 * The worker that began an effect says how it ended, also after its lease was lost or the todo has ended: it knows, and
 * its word beats a person's guess. Refuses with not_found, lease_lost (a later epoch has begun it again), invalid_state
 * (it said otherwise before, or holds the todo and has not begun it).
 */
export async function reportEffect(db: Db, held: Held, caller: EndpointCaller, report: Report): Promise<Effect> {
  const row = heldRow(held, { ...report, owner: caller.name })
  const [ended] = await db.query<Effect>({ name: 'report_effect', text: REPORT, values: [JSON.stringify([row])] })
  if (ended) {
    told(db)
    return ended
  }
  const todo = await findTodo(db, held.id, caller)
  const effect = todo && (await findEffect(db, held.id, report.key))
  if (!effect) throw new Refusal('not_found', { detail: 'There is no such effect' })
  if (effect.lease_epoch !== held.leaseEpoch || (await isAnothers(db, effect, held))) {
    throw await whyNotReported(db, held, todo, effect)
  }
  if (effect.status === report.status) return effect
  throw refuse('invalid_state', todo, `The effect was reported ${effect.status} before`)
}

/** Why the word of a worker that has not begun this effect last, or never did, doesn't count. */
async function whyNotReported(db: Db, held: Held, todo: Todo, effect: Effect): Promise<Refusal> {
  const isOvertaken = held.leaseEpoch < effect.lease_epoch
  if (holds(todo, held)) return refuse('invalid_state', todo, `Epoch ${held.leaseEpoch} has not begun ${effect.key}`)
  await fence(db, held, 'settle', isOvertaken)
  const detail = isOvertaken
    ? `Epoch ${effect.lease_epoch} has begun ${effect.key} again`
    : `Epoch ${held.leaseEpoch} has not begun ${effect.key}`
  return refuse('lease_lost', todo, detail)
}

async function isAnothers(db: Db, effect: Effect, held: Held): Promise<boolean> {
  const text = 'SELECT FROM effects WHERE id = $1 AND endpoint_id = $2'
  return (await db.query({ name: 'is_own_effect', text, values: [effect.id, held.endpointId] })).length === 0
}

/** What a person found out about an effect. */
export interface Finding {
  key: string
  happened: boolean
  comment: string
}

const SETTLE = `WITH settled AS (
    UPDATE effects e SET status = $3, ended_at = now(), settled_by = $4, comment = $5
    WHERE e.todo_id = $1 AND e.key = $2 AND e.status = 'begun' RETURNING e.*),
  logged AS (
    INSERT INTO todo_events (todo_id, queue, verb, actor, attempt_seq, lease_epoch, data)
    SELECT e.todo_id, t.queue, 'effect_settled', $4, nullif(t.attempts, 0), e.lease_epoch, ${SETTLED_DATA}
    FROM settled e JOIN todos t ON t.id = e.todo_id)
  SELECT ${effectColumns('e')} FROM settled e`

/**
 * A person says whether an effect in doubt happened, and how they know; a question that asks just that is answered by it.
 * The same person saying the same again gets the stored one. Refuses with not_found, invalid_state (it is known).
 */
export async function settleEffect(db: Db, id: string, caller: PersonCaller, finding: Finding): Promise<Effect> {
  const todo = await findTodo(db, id, caller)
  if (!todo) throw new Refusal('not_found', { detail: 'There is no such todo' })
  const { key, happened, comment } = finding
  const status = happened ? 'confirmed' : 'failed'
  const asking = await askingWhether(db, id, key)
  if (asking !== null) await answer(db, asking, caller, { action: 'accept', content: { happened }, comment })
  const values = [id, key, status, actorOf(caller), comment]
  const [settled] = await db.query<Effect>({ name: 'settle_effect', text: SETTLE, values })
  if (settled) {
    told(db)
    return settled
  }
  const effect = await findEffect(db, id, key)
  if (!effect) throw new Refusal('not_found', { detail: 'There is no such effect' })
  if (effect.status === status && effect.settled_by === actorOf(caller)) return effect
  throw refuse('invalid_state', todo, `It is known already: ${effect.status} by ${effect.settled_by ?? 'its worker'}`)
}

async function askingWhether(db: Db, todoId: string, key: string): Promise<string | null> {
  const [row] = await db.query<{ id: string }>({
    name: 'asking_whether',
    text: `SELECT id FROM interrupts WHERE todo_id = $1 AND effect_key = $2 AND status = 'open'`,
    values: [todoId, key],
  })
  return row?.id ?? null
}
