import { authenticate } from '#lib/auth/authenticate'
import { type Cookies, findSession, hasSessionCookie } from '#lib/auth/session'
import { Refusal } from '#lib/model/errors'
import { type Caller, ROLES } from '#lib/wire/caller'
import type { Operation } from '#lib/wire/operation'
import type { Core } from './core'
import type { ApiRequest } from './exchange'
import { isSecure, type Site } from './site'

type Asking = Pick<ApiRequest, 'headers'>

/** Who sent a request: the endpoint of its bearer token, else the person of its session. Refuses everybody else with unauthenticated. */
export async function whoCalls({ database, site }: Pick<Core, 'database' | 'site'>, request: Asking): Promise<Caller> {
  const token = bearerOf(request.headers.authorization)
  if (token !== null) return authenticate(database, token)
  const cookies = cookiesOf(request, site)
  const session = await findSession(database, cookies)
  if (session) return session.person
  const detail = hasSessionCookie(cookies)
    ? 'Your session has ended: sign in again'
    : 'Send Authorization: Bearer and a token, or sign in'
  throw new Refusal('unauthenticated', { detail })
}

/** The cookies of a request, as sessions are looked for in them. */
export const cookiesOf = ({ headers }: Asking, site: Site): Cookies => ({
  header: headers.cookie,
  isSecure: isSecure(site),
})

/** The token of an Authorization header, or null when there is none of the scheme Bearer. */
export const bearerOf = (authorization: string | undefined): string | null =>
  /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? null

/** Refuses with forbidden a caller whose scopes or role the operation's row doesn't name. */
export function refuseUnlessMay(caller: Caller, { scopes, role }: Operation): void {
  if (scopes === 'open') return
  if (caller.type === 'endpoint') {
    if (scopes.some((scope) => caller.scopes.includes(scope))) return
    const needed =
      scopes.length > 0 ? `This needs a token with scope ${scopes.join(' or ')}` : 'Only people may do this'
    throw new Refusal('forbidden', { detail: needed })
  }
  if (role && ROLES.indexOf(caller.role) >= ROLES.indexOf(role)) return
  throw new Refusal('forbidden', {
    detail: role ? `This needs the role ${role}` : 'Only the worker that holds the lease may do this',
  })
}
