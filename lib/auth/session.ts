import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Database, Db } from '#lib/db/connect'
import type { PersonCaller } from '#lib/wire/caller'
import { cookieSecret } from './secret'

/** How long a session lasts, and how old it is when a visit to a page makes it last that long again. */
export const SESSION_SECONDS = 14 * 86_400
export const RENEW_AFTER_SECONDS = 86_400

/** What every cookie of ours is called first, and the whole name of the session's; over https `__Secure-` stands before. */
export const COOKIE_PREFIX = 'switchboard'
export const SESSION_COOKIE = `${COOKIE_PREFIX}.session_token`

/** A person who is signed in. */
export interface Session {
  person: PersonCaller
  /** Whether the next page should renew it. */
  isAging: boolean
}

/** A request's cookies, and whether the instance is reached by https, where its own have another name. */
export interface Cookies {
  header: string | undefined
  isSecure: boolean
}

/** Whether there is a session cookie at all, valid or not. */
export const hasSessionCookie = (cookies: Cookies): boolean => valuesOf(cookies).length > 0

/**
 * The session of a request's cookie, or null when there is none, it is not ours, or it has ended. The database is asked
 * every time: whoever signed out, or has another role now, is known from the commit on.
 */
export async function findSession(database: Database, cookies: Cookies): Promise<Session | null> {
  const values = valuesOf(cookies)
  if (values.length === 0) return null
  const secret = await secretOf(database)
  const token = values.map((value) => tokenIn(value, secret)).find((found) => found !== null)
  return token ? read(database, token) : null
}

async function read(db: Db, token: string): Promise<Session | null> {
  const [row] = await db.query<Pick<PersonCaller, 'id' | 'name' | 'role'> & { is_aging: boolean }>({
    name: 'session',
    text: `SELECT p.id, p.name, p.role, s.updated_at < now() - make_interval(secs => ${RENEW_AFTER_SECONDS}) AS is_aging
      FROM sessions s JOIN people p ON p.id = s.person_id WHERE s.token = $1 AND s.expires_at > now()`,
    values: [token],
  })
  if (!row) return null
  const { is_aging: isAging, ...person } = row
  return { person: { type: 'person', ...person, queues: null, channel: 'web' }, isAging }
}

// A neighbouring site under the same domain can put a cookie of this name beside ours; only ours is signed.
function valuesOf({ header = '', isSecure }: Cookies): string[] {
  const name = `${isSecure ? '__Secure-' : ''}${SESSION_COOKIE}=`
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(name))
    .map((pair) => pair.slice(name.length))
}

/** The token in a cookie as better-auth signs them: `token.signature`, percent-encoded; null when another key signed it. */
function tokenIn(value: string, secret: string): string | null {
  const [token, signature, ...rest] = value
    .replaceAll(/%2B/gi, '+')
    .replaceAll(/%2F/gi, '/')
    .replaceAll(/%3D/gi, '=')
    .split('.')
  if (!token || !signature || rest.length > 0) return null
  const given = Buffer.from(signature)
  const wanted = Buffer.from(createHmac('sha256', secret).update(token).digest('base64'))
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? token : null
}

const secrets = new WeakMap<Database, Promise<string>>()

/** The key that signs an instance's cookies, looked up once for each process. */
export function secretOf(database: Database): Promise<string> {
  const known = secrets.get(database)
  if (known) return known
  const found = cookieSecret(database)
  secrets.set(database, found)
  found.catch(() => secrets.delete(database))
  return found
}

/** Deletes sessions that have ended; nobody needs them any more. */
export const forgetEndedSessions = (db: Db): Promise<unknown> =>
  db.query({ name: 'forget_ended_sessions', text: 'DELETE FROM sessions WHERE expires_at <= now()' })
