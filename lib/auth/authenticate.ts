import type { Database } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { log } from '#lib/ops/log'
import type { EndpointCaller } from '#lib/wire/caller'
import { hashToken, isToken } from './token'

type Found = Omit<EndpointCaller, 'type' | 'channel'> & { token_hash: string; unseen: boolean }

/** The look-up under way and the one that gathers what came since; both of one process and database. */
interface LookUps {
  running: boolean
  waiting: { hashes: Set<string>; found: Promise<Map<string, Found>>; start: () => void } | null
  marking: Set<string>
}

const lookUps = new WeakMap<Database, LookUps>()

/**
 * The endpoint a token belongs to; an unknown, expired or revoked token is refused with unauthenticated. The database is
 * asked every time, so a revocation counts from its commit on; calls that arrive during one look-up share the next.
 */
export async function authenticate(db: Database, token: string): Promise<EndpointCaller> {
  if (!isToken(token)) throw unknown()
  const hash = hashToken(token)
  const found = (await lookUp(db, hash)).get(hash)
  if (!found) throw unknown()
  if (found.unseen) markSeen(db, found.id)
  const { token_hash, unseen, ...endpoint } = found
  return { type: 'endpoint', ...endpoint, channel: 'http' }
}

const unknown = () => new Refusal('unauthenticated', { detail: 'This token is unknown, expired or revoked' })

function lookUp(db: Database, hash: string): Promise<Map<string, Found>> {
  const own = lookUps.get(db) ?? { running: false, waiting: null, marking: new Set() }
  lookUps.set(db, own)
  own.waiting ??= gather(db)
  own.waiting.hashes.add(hash)
  const { found } = own.waiting
  if (!own.running) startNext(own)
  return found
}

function gather(db: Database): NonNullable<LookUps['waiting']> {
  const hashes = new Set<string>()
  let start = () => {}
  const found = new Promise<void>((resolve) => {
    start = resolve
  }).then(() => read(db, [...hashes]))
  return { hashes, found, start }
}

function startNext(own: LookUps): void {
  const { waiting } = own
  own.waiting = null
  own.running = waiting !== null
  if (!waiting) return
  waiting.start()
  const next = () => startNext(own)
  waiting.found.then(next, next)
}

async function read(db: Database, hashes: string[]): Promise<Map<string, Found>> {
  const rows = await db.query<Found>({
    name: 'authenticate',
    text: `SELECT id, name, scopes, nullif(queues, '{}') AS queues, default_lease_seconds AS "defaultLeaseSeconds", token_hash,
        coalesce(last_seen_at < now() - interval '1 minute', true) AS unseen
      FROM endpoints WHERE token_hash = ANY($1) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    values: [hashes],
  })
  return new Map(rows.map((row) => [row.token_hash, row]))
}

// Nobody waits for it, and a row that somebody has locked is left for the next call.
function markSeen(db: Database, id: string): void {
  const marking = lookUps.get(db)?.marking
  if (!marking || marking.has(id)) return
  marking.add(id)
  const marked = db.query({
    name: 'mark_seen',
    text: `UPDATE endpoints SET last_seen_at = now() WHERE id IN (
      SELECT id FROM endpoints WHERE id = $1 AND coalesce(last_seen_at < now() - interval '1 minute', true)
      FOR NO KEY UPDATE SKIP LOCKED)`,
    values: [id],
  })
  marked
    .catch((error) => log.debug({ err: error }, 'an endpoint could not be marked as seen'))
    .finally(() => marking.delete(id))
}
