import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { type Scope, scope } from '#lib/wire/caller'
import { givenTime, name } from '#lib/wire/scalars'
import { hashToken, makeToken } from './token'

/** How long an endpoint may be made for. */
const MOST_SECONDS = 3650 * 86_400

/** What an endpoint may be made with; no `queues` means all of them, no end that it stays until it is revoked. */
export const newEndpointSchema = z.strictObject({
  name,
  scopes: z.array(scope).min(1, 'at least one scope'),
  queues: z.array(name).min(1, 'at least one queue, or leave it out for all').optional(),
  default_lease_seconds: z.int().min(1).max(86_400).optional(),
  expires_at: givenTime.optional(),
  /** Instead of `expires_at`. */
  expires_in_seconds: z.int().min(1).max(MOST_SECONDS, 'at most ten years').optional(),
})
export type NewEndpoint = z.infer<typeof newEndpointSchema>

/** An endpoint as people see it: everything but its token. */
export interface Endpoint {
  id: string
  name: string
  scopes: Scope[]
  /** Null means all. */
  queues: string[] | null
  default_lease_seconds: number | null
  created_at: string
  last_seen_at: string | null
  expires_at: string | null
  revoked_at: string | null
}

const COLUMNS = `id, name, scopes, nullif(queues, '{}') AS queues, default_lease_seconds, created_at, last_seen_at,
  expires_at, revoked_at`

/**
 * Makes an endpoint and returns it with its token, which nobody can read again. Refuses a name that is taken and an end that
 * is over with validation_failed.
 */
export async function createEndpoint(db: Db, wanted: NewEndpoint): Promise<{ endpoint: Endpoint; token: string }> {
  const token = makeToken()
  const { name, scopes, queues, default_lease_seconds, expires_at, expires_in_seconds } = wanted
  await mustLieAhead(db, expires_at)
  const [endpoint] = await db.query<Endpoint>({
    name: 'create_endpoint',
    text: `INSERT INTO endpoints (id, name, token_hash, scopes, queues, default_lease_seconds, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6, coalesce($7::timestamptz, now() + make_interval(secs => $8)))
      ON CONFLICT (name) DO NOTHING RETURNING ${COLUMNS}`,
    values: [
      uuidv7(),
      name,
      hashToken(token),
      [...new Set(scopes)],
      queues ?? null,
      default_lease_seconds ?? null,
      expires_at ?? null,
      expires_in_seconds ?? null,
    ],
  })
  if (endpoint) return { endpoint, token }
  const errors = [{ pointer: '/name', message: `${name} is taken; a revoked endpoint keeps its name` }]
  throw new Refusal('validation_failed', { detail: `There is an endpoint named ${name} already`, errors })
}

async function mustLieAhead(db: Db, expiresAt: string | undefined): Promise<void> {
  if (expiresAt === undefined) return
  const text = 'SELECT $1::timestamptz <= now() AS over'
  const [row] = await db.query<{ over: boolean }>({ name: 'is_past', text, values: [expiresAt] })
  if (!row?.over) return
  const errors = [{ pointer: '/expires_at', message: `${expiresAt} lies in the past` }]
  throw new Refusal('validation_failed', { detail: 'It would never be in force', errors })
}

/** All endpoints, revoked ones too, by name. */
export const listEndpoints = (db: Db): Promise<Endpoint[]> =>
  db.query<Endpoint>({ name: 'list_endpoints', text: `SELECT ${COLUMNS} FROM endpoints ORDER BY name` })
