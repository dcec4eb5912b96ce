import type { Db } from '#lib/db/connect'
import { log } from '#lib/ops/log'
import { ENDINGS, type EndingName, theirTodos } from './endpoint-plans'
import { AMONG, type Among, amongParams, SWEEP_ROWS } from './expire'
import { move } from './move'
import type { Moved } from './moved'

// A call that was let in before a revocation has ended by then: it waits for half a minute at most, a statement for a minute.
const WATCHED_SECONDS = 300

// Its ids, as a sweep's third parameter.
const IDS = '$4'

/**
 * One batch of what endpoints have that are out of force: those whose time is over, and those revoked a moment ago, of which
 * a claim may have committed after the revocation. An expired one is revoked with the last of its todos.
 */
export async function expireEndpoints(db: Db, among: Among = {}): Promise<Moved[]> {
  const endpoints = await lockOutOfForce(db)
  if (endpoints.length === 0) return []
  const ids = endpoints.map(({ id }) => id)
  const moved: Moved[] = []
  for (const name of Object.keys(ENDINGS) as EndingName[]) moved.push(...(await sweep(db, name, among, ids)))
  // A part of a batch says nothing about the rest.
  if (!among.only) await finish(db, endpoints, among)
  return moved
}

function sweep(db: Db, name: EndingName, among: Among, ids: readonly string[]): Promise<Moved[]> {
  const { isFor, ...plan } = ENDINGS[name]
  const pick = { swept: `${isFor(IDS)} AND ${AMONG}`, limit: SWEEP_ROWS }
  return move(db, { ...plan, variant: 'swept', pick }, [{ actor: 'reaper' }], [...amongParams(among), ids])
}

// Without an order of its own: whoever has one locked takes no other.
const OUT_OF_FORCE = `SELECT id FROM endpoints WHERE revoked_at IS NOT NULL AND settled_at IS NULL
  UNION ALL SELECT id FROM endpoints WHERE revoked_at IS NULL AND expires_at IS NOT NULL AND expires_at <= now()`

interface OutOfForce {
  id: string
  name: string
  /** Whether it has been revoked, and so long ago that nothing can slip past that any more. */
  is_revoked: boolean
  is_over: boolean
}

const lockOutOfForce = (db: Db): Promise<OutOfForce[]> =>
  db.query<OutOfForce>({
    name: 'lock_out_of_force',
    text: `SELECT id, name, revoked_at IS NOT NULL AS is_revoked,
        coalesce(revoked_at < now() - interval '${WATCHED_SECONDS} s', false) AS is_over
      FROM endpoints WHERE id IN (${OUT_OF_FORCE}) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`,
  })

/** Revokes the expired ones that have nothing left but what is to be left alone, and is done with those revoked a while ago. */
async function finish(db: Db, endpoints: readonly OutOfForce[], { except = [] }: Among): Promise<void> {
  const ending = endpoints.filter(({ is_revoked, is_over }) => !is_revoked || is_over)
  if (ending.length === 0) return
  const left = await db.query<{ endpoint_id: string; is_skipped: boolean }>({
    name: 'left_of_endpoints',
    text: `SELECT t.endpoint_id, bool_and(t.id = ANY($2::text[])) AS is_skipped FROM (${theirTodos('t.id', '$1')}) t GROUP BY 1`,
    values: [ending.map(({ id }) => id), except],
  })
  const isLeft = (endpoint: OutOfForce) => left.find(({ endpoint_id }) => endpoint_id === endpoint.id)
  const expired = ending.filter((one) => !one.is_revoked && (isLeft(one)?.is_skipped ?? true))
  const over = ending.filter((one) => one.is_over && !isLeft(one))
  await db.query({
    name: 'finish_endpoints',
    text: `UPDATE endpoints SET revoked_at = coalesce(revoked_at, now()), settled_at = CASE WHEN id = ANY($2) THEN now() END
      WHERE id = ANY($1) OR id = ANY($2)`,
    values: [expired.map(({ id }) => id), over.map(({ id }) => id)],
  })
  db.afterCommit(() => {
    for (const { name } of expired) log.info({ endpoint: name }, 'an endpoint has expired; it is revoked')
  })
}

/** The ids of the next batch of that sweep, locked or not. */
export async function findOfEndpoints(db: Db, among: Among): Promise<string[]> {
  const endpoints = await db.query<{ id: string }>({ name: 'out_of_force', text: OUT_OF_FORCE })
  const rows = await db.query<{ id: string }>({
    name: 'find_of_endpoints',
    text: `SELECT t.id FROM (${theirTodos('t.id', '$1')}) t WHERE ${AMONG} ORDER BY t.id LIMIT ${SWEEP_ROWS}`,
    values: [endpoints.map(({ id }) => id), ...amongParams(among)],
  })
  return rows.map(({ id }) => id)
}
