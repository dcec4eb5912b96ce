import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { LIVE } from '#lib/model/states'
import { ENDINGS, type EndingName, theirTodos } from './endpoint-plans'
import { literals, move } from './move'

/** What a revocation did: how many todos failed, went back to pending, and wait on for an answer without a holder. */
export interface Revoked {
  name: string
  failed: number
  requeued: number
  parked: number
}

const MOVED_AT_ONCE = 500

/**
 * Ends an endpoint: its token works no more from the commit on, and in the same transaction what was assigned to it fails
 * and what it merely held goes back, at no cost. Revoked before, it stays so. Refuses with not_found.
 */
export function revokeEndpoint(db: Db, name: string, actor = 'system'): Promise<Revoked> {
  return db.transaction(async (tx) => {
    const [endpoint] = await tx.query<{ id: string }>({
      name: 'revoke_endpoint',
      text: 'UPDATE endpoints SET revoked_at = coalesce(revoked_at, now()) WHERE name = $1 RETURNING id',
      values: [name],
    })
    if (!endpoint) throw new Refusal('not_found', { detail: `There is no endpoint named ${name}` })
    return { name, ...(await takeFrom(tx, endpoint.id, actor)) }
  })
}

interface Theirs {
  id: string
  parent_id: string | null
  depth: number
  assigned: boolean
}

/** Takes an endpoint's todos from it, waiting for their locks. From now on nothing can be assigned to it any more. */
async function takeFrom(tx: Db, endpointId: string, actor: string): Promise<Omit<Revoked, 'name'>> {
  const theirs = await tx.query<Theirs>({
    name: 'todos_of_endpoint',
    text: `SELECT * FROM (${theirTodos('t.id, t.parent_id, t.depth, t.assignee_endpoint_id = ANY($1::text[]) AS assigned', '$1')}) t
      ORDER BY depth DESC, id`,
    values: [[endpointId]],
  })
  await lockFamilies(tx, theirs)
  const end = async (name: EndingName): Promise<number> => {
    const { isFor, ...plan } = ENDINGS[name]
    const rows = theirs
      .filter(({ assigned }) => (assigned === true) === (name === 'revokeAssigned'))
      .map(({ id }) => ({ id, actor }))
    let count = 0
    for (let at = 0; at < rows.length; at += MOVED_AT_ONCE) {
      const some = rows.slice(at, at + MOVED_AT_ONCE)
      count += (await move(tx, { ...plan, pick: { named: isFor('$2') } }, some, [[endpointId]])).length
    }
    return count
  }
  return { failed: await end('revokeAssigned'), requeued: await end('revokeClaimed'), parked: await end('revokeHeld') }
}

/**
 * Locks these, their parents, and the live descendants of those that will fail: level by level from the top, as everybody
 * locks families, since all of them are moved in one transaction.
 */
async function lockFamilies(tx: Db, theirs: readonly Theirs[]): Promise<void> {
  const deepest = Math.max(-1, ...theirs.map(({ depth }) => depth))
  let failing: string[] = []
  for (let depth = 0; depth <= deepest || failing.length > 0; depth++) {
    const own = theirs.filter((one) => one.depth === depth)
    const parents = theirs.flatMap((one) => (one.depth === depth + 1 && one.parent_id ? [one.parent_id] : []))
    const children = await lockLevel(tx, [...own.map(({ id }) => id), ...parents], failing)
    failing = [...own.filter(({ assigned }) => assigned).map(({ id }) => id), ...children]
  }
}

/** Locks todos of one level and the live children of those that will fail on the level above; returns the latter's ids. */
async function lockLevel(tx: Db, ids: readonly string[], failing: readonly string[]): Promise<string[]> {
  if (ids.length + failing.length === 0) return []
  const rows = await tx.query<{ id: string; is_child: boolean }>({
    name: 'lock_level',
    text: `SELECT t.id, coalesce(t.parent_id = ANY($2::text[]), false) AS is_child FROM todos t WHERE t.id IN (
        SELECT unnest($1::text[])
        UNION SELECT c.id FROM todos c WHERE c.parent_id = ANY($2::text[]) AND c.state IN (${literals(LIVE)}))
      ORDER BY t.id FOR UPDATE OF t`,
    values: [ids, failing],
  })
  return rows.filter(({ is_child }) => is_child).map(({ id }) => id)
}
