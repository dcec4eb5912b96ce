import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'

/** An assignee as a request names it: the endpoint's name, and the JSON pointer to where it stands. */
export interface Named {
  name: string
  pointer: string
}

/** SQL: whether nobody may ever claim `todos t`, for the only endpoint that could is out of force. */
export const NOBODY_MAY_CLAIM = `(t.assignee_endpoint_id IS NOT NULL AND EXISTS (SELECT FROM endpoints n
  WHERE n.id = t.assignee_endpoint_id AND (n.revoked_at IS NOT NULL OR n.expires_at <= now())))`

/** SQL for the error of such a todo. */
export const NOBODY_MAY_CLAIM_ERROR = `jsonb_build_object('code', 'endpoint_revoked', 'message',
  format('Only %s could claim it, which is revoked', (SELECT n.name FROM endpoints n WHERE n.id = t.assignee_endpoint_id)))`

const IN_FORCE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())'

/** Those of these endpoints that are in force, by their ids; locked until the transaction ends, so that none is revoked meanwhile. */
export async function lockInForce(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const text = `SELECT id FROM endpoints WHERE id = ANY($1) AND ${IN_FORCE} ORDER BY id FOR SHARE`
  const alive = await db.query<{ id: string }>({ name: 'lock_ids_in_force', text, values: [[...new Set(ids)]] })
  return new Set(alive.map(({ id }) => id))
}

/**
 * Locks assignees until the transaction ends, so that none is revoked meanwhile; returns their ids by name. Refuses one that
 * doesn't exist or is revoked with validation_failed.
 */
export async function lockAssignees(db: Db, named: readonly Named[]): Promise<Map<string, string>> {
  if (named.length === 0) return new Map()
  const alive = await db.query<{ id: string; name: string }>({
    name: 'lock_in_force',
    text: `SELECT id, name FROM endpoints WHERE name = ANY($1) AND ${IN_FORCE} ORDER BY id FOR SHARE`,
    values: [[...new Set(named.map(({ name }) => name))]],
  })
  const ids = new Map(alive.map((endpoint) => [endpoint.name, endpoint.id]))
  const unknown = named.filter(({ name }) => !ids.has(name))
  if (unknown.length === 0) return ids
  const errors = unknown.map(({ name, pointer }) => ({ pointer, message: `no endpoint ${name} is in force` }))
  throw new Refusal('validation_failed', { errors })
}
