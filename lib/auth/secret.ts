import { randomBytes } from 'node:crypto'
import type { Db } from '#lib/db/connect'
import { SHORTEST_SECRET } from '#lib/model/environment'

/**
 * The key that signs session cookies: SWITCHBOARD_SECRET (at least 32 characters) when set, else one made on first use
 * and kept in the database, so that all web processes of an instance share it. Throws when the variable is too short.
 */
export async function cookieSecret(db: Db, given = process.env.SWITCHBOARD_SECRET): Promise<string> {
  if (given) {
    if (given.length >= SHORTEST_SECRET) return given
    throw new Error(`SWITCHBOARD_SECRET has ${given.length} characters; it needs at least ${SHORTEST_SECRET}`)
  }
  const made = randomBytes(32).toString('base64url')
  await db.query({
    text: `INSERT INTO secrets (name, value) VALUES ('cookies', $1) ON CONFLICT DO NOTHING`,
    values: [made],
  })
  const [row] = await db.query<{ value: string }>({ text: `SELECT value FROM secrets WHERE name = 'cookies'` })
  return row?.value ?? made
}
