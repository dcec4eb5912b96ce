import { authenticate } from '#lib/auth/authenticate'
import type { Database } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import { type Caller, ROLES } from '#lib/wire/caller'
import type { Operation } from '#lib/wire/operation'
import type { ApiRequest } from './exchange'

/** Who sent a request: the endpoint of its bearer token. Refuses everybody else with unauthenticated. */
export async function whoCalls(database: Database, { headers }: Pick<ApiRequest, 'headers'>): Promise<Caller> {
  const token = bearerOf(headers.authorization)
  if (token === null) throw new Refusal('unauthenticated', { detail: 'Send Authorization: Bearer and a token' })
  return authenticate(database, token)
}

/** The token of an Authorization header, or null when there is none of the scheme Bearer. */
export const bearerOf = (authorization: string | undefined): string | null =>
  /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null

/** Refuses with forbidden a caller whose scopes or role the operation's row doesn't name. */
export function refuseUnlessMay(caller: Caller, { scopes, role }: Operation): void {
  if (scopes === 'open') return
  if (caller.type === 'endpoint') {
    if (scopes.some((scope) => caller.scopes.includes(scope))) return
    throw new Refusal('forbidden', { detail: `This needs a token with scope ${scopes.join(' or ')}` })
  }
  if (role && ROLES.indexOf(caller.role) >= ROLES.indexOf(role)) return
  throw new Refusal('forbidden', {
    detail: role ? `This needs the role ${role}` : 'Only the worker that holds the lease may do this',
  })
}
