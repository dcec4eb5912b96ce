import { v7 as uuidv7 } from 'uuid'
import type { Db } from '#lib/db/connect'

/** Leaves a claimed todo waiting for one live child, as rows: the tables can hold it before a verb can make it. */
export function waitForChild(db: Db, id: string): Promise<undefined> {
  return db.transaction(async (tx) => {
    await tx.query({ text: CHILD, values: [uuidv7(), id] })
    await tx.query({ text: WAIT, values: [id] })
    return undefined
  })
}

const CHILD = `WITH child AS (
    INSERT INTO todos (id, queue, title, parent_id, depth, max_attempts, lease_seconds)
    SELECT $1, queue, 'A part of it', id, depth + 1, max_attempts, lease_seconds FROM todos WHERE id = $2 RETURNING *)
  INSERT INTO todo_events (todo_id, queue, verb, to_state, actor, lease_epoch)
  SELECT id, queue, 'created', state, 'system', 0 FROM child`

const WAIT = `WITH parent AS (
    UPDATE todos SET state = 'waiting', owner = NULL, owner_endpoint_id = NULL, lease_expires_at = NULL,
      live_children = live_children + 1, state_since = now(), updated_at = now(), version = version + 1
    WHERE id = $1 AND state = 'claimed' RETURNING *)
  INSERT INTO todo_events (todo_id, queue, verb, from_state, to_state, actor, attempt_seq, lease_epoch)
  SELECT id, queue, 'waiting', 'claimed', state, 'system', attempts, lease_epoch FROM parent`
