import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'
import { within } from './address'

/** A database of one test file: its address, more connections to it, and how to make and drop it. */
export interface Scratch {
  url: string
  /** A connection of its own, closed by `drop`. */
  session(): Promise<Client>
  create(): Promise<void>
  /** Throws, after dropping it all the same, when a connection other than the sessions is still open. */
  drop(): Promise<void>
}

/** Names a new database without making it yet; `create` clones the template, the migrated one or PostgreSQL's empty one. */
export function scratch(template: 'migrated' | 'empty'): Scratch {
  const name = `switchboard_test_${randomBytes(6).toString('hex')}`
  const url = within(inject('adminUrl'), name)
  const sessions: Client[] = []
  return {
    url,
    session: async () => {
      const session = new Client({ connectionString: url, application_name: 'test-session' })
      sessions.push(session)
      await session.connect()
      return session
    },
    create: () => asAdmin((admin) => clone(admin, name, template === 'empty' ? 'template0' : inject('template'))),
    drop: async () => {
      await Promise.all(sessions.map((session) => session.end()))
      await asAdmin((admin) => drop(admin, name))
    },
  }
}

const clone = (admin: Client, name: string, template: string) =>
  admin.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)

async function drop(admin: Client, name: string): Promise<void> {
  const open = await stillOpen(admin, name)
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  if (open.length > 0) throw new Error(`The test file left ${open.length} connection(s) open:\n${open.join('\n')}`)
}

// A connection that was just closed is still listed until its server process is gone, a few milliseconds later.
const GRACE_MS = 1000

async function stillOpen(admin: Client, name: string): Promise<string[]> {
  const deadline = performance.now() + GRACE_MS
  for (;;) {
    const { rows } = await admin.query(
      `SELECT format('%s, %s: %s', coalesce(nullif(application_name, ''), 'unnamed'), state, left(query, 200)) AS line
       FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
      [name],
    )
    if (rows.length === 0 || performance.now() > deadline) return rows.map((row) => row.line)
  }
}

async function asAdmin(work: (admin: Client) => Promise<unknown>): Promise<void> {
  const admin = new Client({ connectionString: inject('adminUrl'), application_name: 'test-admin' })
  await admin.connect()
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}
