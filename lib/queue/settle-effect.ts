import { ring } from '#lib/db/bell'
import type { Db, Statement } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { actorOf, type EndpointCaller, type PersonCaller } from '#lib/wire/caller'
import type { Effect } from '#lib/wire/effect'
import type { Todo } from '#lib/wire/todo'
import { answer } from './answer'
import { closeDoubt, NONE_OPEN, type OpenQuestion, openQuestion, STILL_OPEN } from './effect-known'
import { effectColumns, findEffect, SETTLED_DATA } from './effect-row'
import { HELD_INPUT, heldRow } from './held'
import { givenSql } from './move'
import { fence, findTodo, type Held, holds, refuse } from './why-not'

/** What the worker that began an effect knows of it. */
export interface Report {
  key: string
  status: 'confirmed' | 'failed'
  result?: unknown
}

const REPORTED = {
  id: 'text',
  ...HELD_INPUT,
  key: 'text',
  status: 'text',
  result: 'jsonb',
  owner: 'text',
  open_interrupt_id: 'text',
}

// The todo's lock comes first, as in every verb: none asks a person meanwhile what is known with this.
const REPORT = `WITH i AS (${givenSql(REPORTED)}),
  locked AS MATERIALIZED (SELECT t.id, t.queue FROM i JOIN todos t ON t.id = i.id WHERE ${STILL_OPEN} FOR UPDATE OF t),
  ended AS (
    UPDATE effects e SET status = i.status, result = i.result, ended_at = now(), settled_by = NULL, comment = NULL
    FROM i CROSS JOIN locked t WHERE e.todo_id = t.id AND e.key = i.key AND e.lease_epoch = i.lease_epoch AND e.endpoint_id = i.endpoint_id
      AND (e.status = 'begun' OR e.settled_by IS NOT NULL)
    RETURNING e.*),
  logged AS (
    INSERT INTO todo_events (todo_id, queue, verb, actor, attempt_seq, lease_epoch, data)
    SELECT e.todo_id, t.queue, 'effect_settled', 'worker:' || coalesce(a.owner, i.owner), a.seq, e.lease_epoch, ${SETTLED_DATA}
    FROM i CROSS JOIN ended e CROSS JOIN locked t
    LEFT JOIN todo_attempts a ON a.todo_id = e.todo_id AND a.lease_epoch = e.lease_epoch)
  SELECT ${effectColumns('e')} FROM locked LEFT JOIN ended e ON true`

/**
 * The worker that began an effect says how it ended, also after its lease was lost or the todo has ended: it knows, and
 * its word beats a person's guess, also the one that is just being asked for: that question is closed by it, and the todo
 * goes on. Refuses with not_found, lease_lost (a later epoch has begun it again), invalid_state
 * (it said otherwise before, or holds the todo and has not begun it).
 */
export async function reportEffect(db: Db, held: Held, caller: EndpointCaller, report: Report): Promise<Effect> {
  const ended = await whileOpen(db, { id: held.id, key: report.key }, (open) =>
    open.asksWhether
      ? db.transaction((tx) => reportAnswering(tx, held, caller, { ...report, open }))
      : reportOnce(db, held, caller, { ...report, open }),
  )
  if (ended) return ended
  const todo = await findTodo(db, held.id, caller)
  const effect = todo && (await findEffect(db, held.id, report.key))
  if (!effect) throw new Refusal('not_found', { detail: 'There is no such effect' })
  if (effect.lease_epoch !== held.leaseEpoch || (await isAnothers(db, effect, held))) {
    throw await whyNotReported(db, held, todo, effect)
  }
  if (effect.status === report.status) return effect
  throw refuse('invalid_state', todo, `The effect was reported ${effect.status} before`)
}

type Reporting = Report & { open: OpenQuestion }

function reportOnce(db: Db, held: Held, caller: EndpointCaller, { open, ...report }: Reporting): Promise<Written> {
  const row = heldRow(held, { ...report, owner: caller.name, open_interrupt_id: open.id })
  return written(db, { name: 'report_effect', text: REPORT, values: [JSON.stringify([row])] })
}

/** The report, and with it the answer to the question that asks a person just that. */
async function reportAnswering(tx: Db, held: Held, caller: EndpointCaller, report: Reporting): Promise<Written> {
  const ended = await reportOnce(tx, held, caller, report)
  const known = { todoId: held.id, interruptId: report.open.id as string, happened: report.status === 'confirmed' }
  if (ended && ended !== 'asked otherwise') await closeDoubt(tx, caller, known)
  return ended
}

/** The effect as written; null when there was nothing to write; or the todo has another question open than was thought. */
type Written = Effect | null | 'asked otherwise'

async function written(db: Db, statement: Statement): Promise<Written> {
  const [row] = await db.query<Effect | { id: null }>(statement)
  if (!row) return 'asked otherwise'
  if (row.id === null) return null
  db.afterCommit(() => ring(db.root, 'log'))
  return row
}

const MOST_LOOKS = 5

/** Writes about an effect while its todo has the question open that was looked at; null when there is nothing to write. */
async function whileOpen(
  db: Db,
  { id, key }: { id: string; key: string },
  write: (open: OpenQuestion) => Promise<Written>,
): Promise<Effect | null> {
  let open: OpenQuestion | null = NONE_OPEN
  for (let looks = 0; open && looks < MOST_LOOKS; looks++) {
    const done = await write(open)
    if (done !== 'asked otherwise') return done
    open = await openQuestion(db, id, key)
  }
  if (open === null) return null
  throw new Refusal('unavailable', { detail: 'The todo kept changing; try again' })
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

const FOUND = {
  id: 'text',
  key: 'text',
  status: 'text',
  settled_by: 'text',
  comment: 'text',
  open_interrupt_id: 'text',
}

const SETTLE = `WITH i AS (${givenSql(FOUND)}),
  locked AS MATERIALIZED (
    SELECT t.id, t.queue, t.attempts FROM i JOIN todos t ON t.id = i.id WHERE ${STILL_OPEN} FOR UPDATE OF t),
  settled AS (
    UPDATE effects e SET status = i.status, ended_at = now(), settled_by = i.settled_by, comment = i.comment
    FROM i CROSS JOIN locked t WHERE e.todo_id = t.id AND e.key = i.key AND e.status = 'begun' RETURNING e.*),
  logged AS (
    INSERT INTO todo_events (todo_id, queue, verb, actor, attempt_seq, lease_epoch, data)
    SELECT e.todo_id, t.queue, 'effect_settled', e.settled_by, nullif(t.attempts, 0), e.lease_epoch, ${SETTLED_DATA}
    FROM settled e CROSS JOIN locked t)
  SELECT ${effectColumns('e')} FROM locked LEFT JOIN settled e ON true`

/**
 * A person says whether an effect in doubt happened, and how they know; a question that asks just that is answered by it.
 * The same person saying the same again gets the stored one. Refuses with not_found, invalid_state (it is known).
 */
export async function settleEffect(db: Db, id: string, caller: PersonCaller, finding: Finding): Promise<Effect> {
  const todo = await findTodo(db, id, caller)
  if (!todo) throw new Refusal('not_found', { detail: 'There is no such todo' })
  const { key, happened, comment } = finding
  const status = happened ? 'confirmed' : 'failed'
  const settled = await whileOpen(db, { id, key }, async (open) => {
    if (!open.asksWhether) return settleOnce(db, { ...finding, id, by: actorOf(caller), open })
    await answer(db, open.id as string, caller, { action: 'accept', content: { happened }, comment })
    return findEffect(db, id, key)
  })
  const effect = settled ?? (await findEffect(db, id, key))
  if (!effect) throw new Refusal('not_found', { detail: 'There is no such effect' })
  if (effect.status === status && effect.settled_by === actorOf(caller)) return effect
  throw refuse('invalid_state', todo, `It is known already: ${effect.status} by ${effect.settled_by ?? 'its worker'}`)
}

type Settling = Finding & { id: string; by: string; open: OpenQuestion }

function settleOnce(db: Db, { id, key, happened, comment, by, open }: Settling): Promise<Written> {
  const status = happened ? 'confirmed' : 'failed'
  const row = { id, key, status, settled_by: by, comment, open_interrupt_id: open.id }
  return written(db, { name: 'settle_effect', text: SETTLE, values: [JSON.stringify([row])] })
}
