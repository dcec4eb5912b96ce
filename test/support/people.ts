import { vi } from 'vitest'
import { createPerson } from '#lib/auth/people'
import type { Database } from '#lib/db/connect'
import type { Role } from '#lib/wire/caller'
import type { Person } from '#lib/wire/person'

// Hashing a password is slow on purpose, and slower beside another test file that does.
vi.setConfig({ testTimeout: 60_000 })

export const PASSWORD = 'correct horse battery'

/** An answer as a browser sees it; `body` is parsed when it is JSON. */
export interface Seen {
  status: number
  headers: Headers
  /** Set-Cookie, by the cookie's name. */
  cookies: Map<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
}

/** What a browser sends besides method and path. */
export interface Request {
  json?: unknown
  headers?: Record<string, string>
}

/** Sends one request as a browser does, redirects not followed. */
export async function browse(url: string, method: string, { json, headers }: Request = {}): Promise<Seen> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    body: json === undefined ? null : JSON.stringify(json),
  })
  const text = await textOf(response)
  const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
  const cookies = new Map(response.headers.getSetCookie().map((cookie) => [cookie.split('=')[0] ?? '', cookie]))
  return { status: response.status, headers: response.headers, cookies, body: isJson ? JSON.parse(text) : text }
}

// A stream has no end to wait for.
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  await response.body?.cancel()
  return ''
}

/** Somebody who has signed in: who they are and the cookie of their browser. */
export interface Human {
  person: Person
  cookie: string
  send(method: string, path: string, sent?: Request): Promise<Seen>
}

let people = 0

/** Makes a person with a role who can sign in with PASSWORD. */
export function somebody(db: Database, role: Role = 'viewer'): Promise<Person> {
  people += 1
  return createPerson(db, {
    name: `Person ${people}`,
    email: `person-${people}@example.test`,
    password: PASSWORD,
    role,
  })
}

/** Makes a person and signs them in at this address. */
export async function signedIn(db: Database, url: string, role: Role = 'viewer'): Promise<Human> {
  const person = await somebody(db, role)
  await db.query({ text: 'DELETE FROM rate_limits' })
  const answer = await signIn(url, person.email)
  const cookie = cookieOf(answer)
  const send: Human['send'] = (method, path, { json, headers } = {}) =>
    browse(`${url}${path}`, method, { json, headers: { cookie, ...headers } })
  return { person, cookie, send }
}

/** Sends e-mail address and password, from a page of this very site unless said. */
export const signIn = (
  url: string,
  email: string,
  password = PASSWORD,
  headers: Record<string, string> = {},
): Promise<Seen> =>
  browse(`${url}/api/auth/sign-in/email`, 'POST', { json: { email, password }, headers: { origin: url, ...headers } })

/** What the browser sends from then on. */
export const cookieOf = ({ cookies }: Seen): string =>
  [...cookies.values()].map((cookie) => cookie.split(';')[0]).join('; ')
