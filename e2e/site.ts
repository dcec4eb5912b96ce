import { type Browser, test as base, expect, type Page } from 'playwright/test'
import { createEndpoint } from '#lib/auth/endpoints'
import { createPerson } from '#lib/auth/people'
import { connect, type Database } from '#lib/db/connect'
import { type Client, connect as connectClient } from '#lib/sdk/sdk'
import { type Role, SCOPES } from '#lib/wire/caller'
import { readInstance } from '#scripts/instance.mjs'

const sessions = new Map<Role, string>()

const PASSWORD = 'correct horse battery staple'

/** Of a test that measures time or changes what all share: it runs when no other does. */
export const ALONE = { tag: '@alone' }

/** The running app as its agents and people see it. */
export interface Site {
  url: string
  db: Database
  /** An endpoint of every scope. */
  agent: Client
  token: string
  /** A page on which somebody of this role is signed in; an error in its console fails the test. */
  pageOf(role: Role, options?: Parameters<Browser['newContext']>[0]): Promise<Page>
}

/** Signs everybody out whom this worker's tests signed in. */
export async function endSessions({ db }: Site): Promise<void> {
  const tokens = [...sessions.values()].map((cookie) => decodeURIComponent(cookie).split('.')[0])
  sessions.clear()
  await db.query({ text: 'DELETE FROM sessions WHERE token = ANY($1)', values: [tokens] })
}

/** Deletes every todo, for a test that counts what there is: it runs alone. */
export async function emptyQueue({ db }: Site): Promise<void> {
  await db.query({ text: 'TRUNCATE todos, todo_attempts, todo_events, interrupts, effects' })
}

interface Fixtures {
  site: Site
}

let made = 0
/** A test on the running app. */
export const test = base.extend<Fixtures>({
  site: async ({ browser }, use, info) => {
    const url = String(info.project.use.baseURL)
    const db = connect({ databaseUrl: String(readInstance()?.database_url), max: 2 })
    made += 1
    const name = `e2e-${process.pid}-${made}`
    const { token } = await createEndpoint(db, { name, scopes: [...SCOPES] })
    const errors: string[] = []
    const pageOf: Site['pageOf'] = async (role, options = {}) => {
      const cookie = sessions.get(role) ?? (await signedIn(db, url, role))
      sessions.set(role, cookie)
      const context = await browser.newContext({ baseURL: url, ...options })
      await context.addCookies([{ name: 'switchboard.session_token', value: cookie, url }])
      const page = await context.newPage()
      page.on('pageerror', (error) => errors.push(error.message))
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text())
      })
      return page
    }
    await use({ url, db, token, agent: connectClient({ url, token }), pageOf })
    for (const context of browser.contexts()) await context.close()
    await db.close()
    expect(errors.filter((text) => !/Failed to load resource/.test(text))).toEqual([])
  },
})

/** The value of the session cookie of a new person of this role. */
async function signedIn(db: Database, url: string, role: Role): Promise<string> {
  const email = `${role}-${process.pid}-${Date.now()}@example.org`
  await createPerson(db, { name: `The ${role}`, email, password: PASSWORD, role })
  // All of them come from one address, and are more than one is allowed in so short a time.
  await db.query({ text: 'DELETE FROM rate_limits' })
  const answer = await fetch(`${url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  expect(answer.status).toBe(200)
  const cookie = /switchboard\.session_token=([^;]+)/.exec(answer.headers.getSetCookie().join())
  return String(cookie?.[1])
}
