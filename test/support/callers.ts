import { v7 as uuidv7 } from 'uuid'
import type { Db } from '#lib/db/connect'
import { type EndpointCaller, type PersonCaller, SCOPES } from '#lib/wire/caller'

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

/** A person with a row of this role, whose approvals therefore count. */
export async function approver(db: Db, role: PersonCaller['role'] = 'responder'): Promise<PersonCaller> {
  const id = uuidv7()
  const text = `INSERT INTO people (id, name, email, role) VALUES ($1, 'Approver', $1 || '@example.org', $2)`
  await db.query({ text, values: [id, role] })
  return person(id, { role })
}
