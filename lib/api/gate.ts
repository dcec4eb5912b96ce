import { findSession } from '#lib/auth/session'
import { signIn } from '#lib/auth/sign-in'
import { Refusal } from '#lib/model/errors'
import type { PersonCaller } from '#lib/wire/caller'
import { localPath } from '#lib/wire/local-path'
import { renewSession } from './auth-door'
import { completeAnswer, requestIdOf } from './complete-answer'
import type { Core } from './core'
import type { ApiAnswer, ApiRequest } from './exchange'
import { HOME, isForAll, isStatic, SIGN_IN, signInPath } from './gate-paths'
import { plainPage } from './plain-page'
import { problem, refusalOf } from './problem'
import { isSecure } from './site'
import { cookiesOf } from './who'

/** What a visitor to the pages gets: an answer at once, or the page, shown to this person, with cookies to set. */
export type Visit = { answer: ApiAnswer } | { person: PersonCaller | null; cookies: readonly string[] }

const IN: Visit = { person: null, cookies: [] }

/**
 * Stands before every page, whichever server renders it: people who are signed in pass from anywhere; strangers get what is
 * for all and are sent to sign in otherwise, or refused where they didn't ask for a document. Never throws.
 */
export async function admit(core: Core, request: ApiRequest): Promise<Visit> {
  const requestId = requestIdOf(request)
  const visit = await admitted(core, request).catch((error) => refused(request, refusalOf(error, requestId), requestId))
  return 'answer' in visit ? { answer: completeAnswer(visit.answer, request, requestId) } : visit
}

function refused(request: ApiRequest, refusal: Refusal, requestId: string): { answer: ApiAnswer } {
  const isShown = wantsDocument(request) && refusal.status >= 500
  return { answer: isShown ? plainPage(refusal) : problem(refusal, requestId) }
}

async function admitted(core: Core, request: ApiRequest): Promise<Visit> {
  const { path, method } = request
  const isRead = method === 'GET' || method === 'HEAD'
  if (isStatic(path)) {
    if (!isRead) throw readOnly()
    return IN
  }
  const session = await findSession(core.database, cookiesOf(request, core.site))
  if (session) {
    if (!isRead) throw readOnly()
    const elsewhere = wayOn(request)
    if (elsewhere) return { answer: redirectTo(elsewhere) }
    return { person: session.person, cookies: session.isAging ? await renewSession(core, request) : [] }
  }
  if (isRead && isForAll(path)) {
    // Whoever is shown how to sign in is about to.
    signIn(core.database, isSecure(core.site)).catch(() => {})
    return IN
  }
  if (isRead && wantsDocument(request)) return { answer: redirectTo(signInPath(targetOf(request))) }
  throw new Refusal('unauthenticated', { detail: 'Sign in to see the pages' })
}

const readOnly = () => new Refusal('method_not_allowed', { detail: 'Here only GET, HEAD', allow: 'GET, HEAD' })

/** Where somebody who is signed in goes instead: from the root to where people begin, from signing in to what they wanted. */
function wayOn({ path, query }: ApiRequest): string | null {
  if (path === '/') return HOME
  return path === SIGN_IN ? (localPath(new URLSearchParams(query).get('next')) ?? HOME) : null
}

const targetOf = ({ path, query }: ApiRequest): string => (query ? `${path}?${query}` : path)

const wantsDocument = ({ headers }: ApiRequest): boolean => headers.accept?.includes('text/html') ?? false

const redirectTo = (location: string): ApiAnswer => ({ status: 303, headers: { location }, body: '' })
