import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'

/** An assignee as a request names it: the endpoint's name, and the JSON pointer to where it stands. */
export interface Named {
  name: string
  pointer: string
}

/**
 * Locks the endpoints of these names until the transaction ends, so that none is revoked meanwhile; returns the ids of
 * those in force by their names.
 */
export async function lockInForce(db: Db, names: readonly string[]): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const alive = await db.query<{ id: string; name: string }>({
    name: 'lock_in_force',
    text: `SELECT id, name FROM endpoints WHERE name = ANY($1) AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > now()) ORDER BY id FOR SHARE`,
    values: [[...new Set(names)]],
  })
  return new Map(alive.map((endpoint) => [endpoint.name, endpoint.id]))
}

/** The same for assignees. Refuses one that doesn't exist or is revoked with validation_failed. */
export async function lockAssignees(db: Db, named: readonly Named[]): Promise<Map<string, string>> {
  const ids = await lockInForce(
    db,
    named.map(({ name }) => name),
  )
  const unknown = named.filter(({ name }) => !ids.has(name))
  if (unknown.length === 0) return ids
  const errors = unknown.map(({ name, pointer }) => ({ pointer, message: `no endpoint ${name} is in force` }))
  throw new Refusal('validation_failed', { errors })
}
