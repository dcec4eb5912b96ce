import type { Db } from '#lib/db/connect'
import { EFFECT_COLUMNS, type Effect } from '#lib/wire/effect'

/** SQL for what the log keeps of an effect `e` that was settled. */
export const SETTLED_DATA = `jsonb_build_object('effect_id', e.id, 'key', e.key, 'status', e.status)`

/** SQL for an effect's columns as they go on the wire; `alias` names a row of `effects` in scope. */
export const effectColumns = (alias: string): string => EFFECT_COLUMNS.map((name) => `${alias}.${name}`).join(', ')

/** The effect of this key, or null while none was begun. */
export async function findEffect(db: Db, todoId: string, key: string): Promise<Effect | null> {
  const [row] = await db.query<Effect>({
    name: 'find_effect',
    text: `SELECT ${effectColumns('e')} FROM effects e WHERE e.todo_id = $1 AND e.key = $2`,
    values: [todoId, key],
  })
  return row ?? null
}

/** What an answer writes besides, to a question that asks whether an effect happened: the effect, and its event. */
export const SETTLES: Record<string, string> = {
  settled: `UPDATE effects e SET ended_at = now(), settled_by = m.in_answered_by, comment = m.in_comment,
      status = CASE WHEN (m.in_content ->> 'happened')::boolean THEN 'confirmed' ELSE 'failed' END
    FROM moved m JOIN interrupts q ON q.id = m.was_interrupt_id
    WHERE e.todo_id = m.id AND e.key = q.effect_key AND e.status = 'begun' AND m.in_action = 'accept'
    RETURNING e.*`,
  told: `INSERT INTO todo_events (todo_id, queue, verb, actor, attempt_seq, lease_epoch, data)
    SELECT m.id, m.queue, 'effect_settled', m.in_actor, m.attempts, m.lease_epoch, ${SETTLED_DATA}
    FROM moved m JOIN settled e ON e.todo_id = m.id`,
}
