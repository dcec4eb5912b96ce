import { v7 as uuidv7 } from 'uuid'
import type { Db } from '#lib/db/connect'
import { type EndpointCaller, type PersonCaller, type Role, SCOPES } from '#lib/wire/caller'

/** An endpoint that calls, with every scope and every queue unless said; it has no row of its own (see `registered`). */
export const endpoint = (name: string, said: Partial<EndpointCaller> = {}): EndpointCaller => ({
  type: 'endpoint',
  id: `endpoint-${name}`,
  name,
  scopes: SCOPES,
  queues: null,
  defaultLeaseSeconds: null,
  channel: 'http',
  ...said,
})

/** A person that calls, an operator unless said. */
export const person = (id: string, said: Partial<PersonCaller> = {}): PersonCaller => ({
  type: 'person',
  id,
  name: id,
  role: 'operator',
  queues: null,
  channel: 'web',
  ...said,
})

/** An endpoint with a row, so that it can be named as an assignee. */
export async function registered(db: Db, name: string, columns: { revoked_at?: string } = {}): Promise<EndpointCaller> {
  const caller = endpoint(name, { id: uuidv7() })
  await db.query({
    text: 'INSERT INTO endpoints (id, name, token_hash, scopes, revoked_at) VALUES ($1, $2, $1, $3, $4)',
    values: [caller.id, name, caller.scopes, columns.revoked_at ?? null],
  })
  return caller
}

/** A person with a row, so that what they approved counts. */
export async function employed(db: Db, id: string, role: Role = 'operator'): Promise<PersonCaller> {
  await db.query({
    text: `INSERT INTO people (id, name, email, role) VALUES ($1, $1, $1 || '@example.test', $2)`,
    values: [id, role],
  })
  return person(id, { role })
}
