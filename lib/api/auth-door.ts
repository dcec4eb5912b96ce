import { findSession, forgetEndedSessions } from '#lib/auth/session'
import { ADDRESS_HEADER, AUTH_PATH, type SignIn, signIn } from '#lib/auth/sign-in'
import { Refusal } from '#lib/model/errors'
import { log } from '#lib/ops/log'
import { type Person, signInSchema } from '#lib/wire/person'
import { clientAddress } from './client-address'
import { completeAnswer, requestIdOf } from './complete-answer'
import type { Core } from './core'
import type { ApiAnswer, ApiRequest } from './exchange'
import { ownOrigin, siteOrigin } from './origin'
import { problem, refusalOf } from './problem'
import { readBody } from './read-body'
import { isSecure } from './site'
import { check } from './validate'
import { cookiesOf } from './who'

interface AuthCall {
  core: Core
  request: ApiRequest
  /** Sends it on to better-auth, with this body. */
  ask(body?: unknown): Promise<Response>
}

interface Endpoint {
  method: 'GET' | 'POST'
  answer(call: AuthCall): Promise<ApiAnswer>
}

// Of all that better-auth answers, what people need; the rest is not there.
const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  [`${AUTH_PATH}/sign-in/email`, { method: 'POST', answer: signedIn }],
  [`${AUTH_PATH}/sign-out`, { method: 'POST', answer: signedOut }],
  [`${AUTH_PATH}/get-session`, { method: 'GET', answer: session }],
])

/** Whether a path is one of those under which people sign in and out. */
export const isAuthPath = (path: string): boolean => path === AUTH_PATH || path.startsWith(`${AUTH_PATH}/`)

/** Answers a request to one of them; never throws. */
export async function answerAuth(core: Core, request: ApiRequest): Promise<ApiAnswer> {
  const requestId = requestIdOf(request)
  const answer = await answered(core, request).catch((error) => problem(refusalOf(error, requestId), requestId))
  return completeAnswer(answer, request, requestId)
}

async function answered(core: Core, request: ApiRequest): Promise<ApiAnswer> {
  const { path, method } = request
  if (path.startsWith(`${AUTH_PATH}/sign-up`)) {
    throw new Refusal('forbidden', { detail: 'Nobody signs up by themselves: people come by an invitation' })
  }
  const endpoint = ENDPOINTS.get(path)
  if (!endpoint) throw new Refusal('not_found', { detail: 'There is nothing at this address' })
  if (method !== endpoint.method) {
    throw new Refusal('method_not_allowed', { detail: `Here only ${endpoint.method}`, allow: endpoint.method })
  }
  // A read is answered whoever's page asks: that page can't see the answer.
  const origin = method === 'GET' ? siteOrigin(core.site, request) : ownOrigin(core.site, request)
  const handle = await signIn(core.database, isSecure(core.site))
  return endpoint.answer({ core, request, ask: (body) => asked(handle, { core, request, origin, body }) })
}

interface Forwarded {
  core: Core
  request: ApiRequest
  origin: string
  body: unknown
}

/** better-auth gets only what it needs; the address is our own finding, whatever was sent under that name. */
function asked(handle: SignIn, { core, request, origin, body }: Forwarded): Promise<Response> {
  const { path, method, headers } = request
  const address = clientAddress(request, core.site)
  const sent = Object.entries({
    origin,
    cookie: headers.cookie,
    'user-agent': headers['user-agent']?.slice(0, 500),
    [ADDRESS_HEADER]: address ?? undefined,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const init = { method, headers: sent, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  return handle(new Request(`${origin}${path}`, init))
}

async function signedIn({ core, request, ask }: AuthCall): Promise<ApiAnswer> {
  const credentials = await readCredentials(request)
  const response = await ask(credentials)
  const address = clientAddress(request, core.site)
  if (response.status === 429) {
    log.warn({ address }, 'too many sign-ins from one address')
    const seconds = Number(response.headers.get('x-retry-after')) || 60
    throw new Refusal('rate_limited', {
      detail: `Too many sign-ins from here: try again in ${seconds} s`,
      retry_after_seconds: seconds,
    })
  }
  if (response.status === 401) {
    log.info({ address }, 'a sign-in was refused')
    throw new Refusal('unauthenticated', { detail: 'The e-mail address or the password is wrong' })
  }
  if (!response.ok) throw new Error(`better-auth answered a sign-in with ${response.status}`)
  const { user } = (await response.json()) as { user: Person }
  log.info({ address, person: user.id }, 'signed in')
  forgetEndedSessions(core.database).catch((error) => log.debug({ err: error }, 'ended sessions were kept'))
  const { id, name, email, role } = user
  return json({ person: { id, name, email, role } }, response)
}

async function readCredentials(request: ApiRequest): Promise<unknown> {
  const body = await readBody(request, { body: signInSchema })
  const checked = check('body', signInSchema, body === undefined ? {} : body)
  if ('value' in checked) return checked.value
  const { errors } = checked
  throw new Refusal('validation_failed', {
    detail: `${errors[0]?.pointer || 'the body'} ${errors[0]?.message}`,
    errors,
  })
}

async function signedOut({ core, request, ask }: AuthCall): Promise<ApiAnswer> {
  const response = await ask()
  // better-auth says it is done even where the database did not hear of it.
  if (await findSession(core.database, cookiesOf(request, core.site))) {
    throw new Refusal('unavailable', { detail: 'You are still signed in: try again', retry_after_seconds: 1 })
  }
  return json({ signed_out: true }, response)
}

async function session({ ask }: AuthCall): Promise<ApiAnswer> {
  const response = await ask()
  const found = (await response.json()) as { user: Person; session: { expiresAt: string } } | null
  if (!response.ok || !found) return json({ person: null, expires_at: null }, response)
  const { id, name, email, role } = found.user
  return json({ person: { id, name, email, role }, expires_at: found.session.expiresAt }, response)
}

const json = (body: unknown, response: Response): ApiAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  cookies: response.headers.getSetCookie(),
  body: JSON.stringify(body),
})

/** The cookies that make the session of this request last anew; none when there is nothing to renew. */
export async function renewSession(core: Core, request: ApiRequest): Promise<readonly string[]> {
  const renewing = { ...request, method: 'GET', path: `${AUTH_PATH}/get-session`, query: '' }
  return (await answerAuth(core, renewing)).cookies ?? []
}
