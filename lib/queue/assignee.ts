import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'

/**
 * Locks the endpoints that rows name as assignee until the transaction ends, so that none is revoked meanwhile, and
 * returns their ids by name. Refuses one that doesn't exist or is revoked with validation_failed.
 */
export async function lockAssignees(db: Db, rows: readonly { assignee?: string | undefined }[]): Promise<Map<string, string>> {
  const names = [...new Set(rows.flatMap((row) => row.assignee ?? []))]
  if (names.length === 0) return new Map()
  const alive = await db.query<{ id: string; name: string }>({
    name: 'lock_assignees',
    text: `SELECT id, name FROM endpoints WHERE name = ANY($1) AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > now()) ORDER BY id FOR SHARE`,
    values: [names],
  })
  const ids = new Map(alive.map((endpoint) => [endpoint.name, endpoint.id]))
  const errors = rows.flatMap(({ assignee }, at) =>
    assignee && !ids.has(assignee)
      ? [{ pointer: rows.length > 1 ? `/todos/${at}/assignee` : '/assignee', message: `no endpoint ${assignee} is in force` }]
      : [],
  )
  if (errors.length > 0) throw new Refusal('validation_failed', { errors })
  return ids
}
