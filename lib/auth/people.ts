import { hashPassword } from 'better-auth/crypto'
import { v7 as uuidv7 } from 'uuid'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { Role } from '#lib/wire/caller'

/** A person to be made, who signs in with e-mail and password. */
export interface NewPerson {
  name: string
  email: string
  password: string
  role: Role
}

/** A person as others may know them. */
export interface Person {
  id: string
  name: string
  email: string
  role: Role
}

/** Makes a person who may sign in at once. Refuses an e-mail address that is taken with validation_failed. */
export async function createPerson(db: Db, { name, email, password, role }: NewPerson): Promise<Person> {
  const hash = await hashPassword(password)
  const person = { id: uuidv7(), name, email: email.toLowerCase(), role }
  const [made] = await db.query({
    text: `WITH made AS (
        INSERT INTO people (id, name, email, role) VALUES ($1, $2, $3, $4) ON CONFLICT (email) DO NOTHING RETURNING id)
      INSERT INTO accounts (id, person_id, account_id, provider_id, password)
      SELECT $5, id, id, 'credential', $6 FROM made RETURNING id`,
    values: [person.id, name, person.email, role, uuidv7(), hash],
  })
  if (made) return person
  throw new Refusal('validation_failed', { errors: [{ pointer: '/email', message: 'somebody has this address already' }] })
}

/** Whether there is anybody who may change settings, people and endpoints. */
export async function hasAdmin(db: Db): Promise<boolean> {
  const rows = await db.query({ text: `SELECT 1 FROM people WHERE role = 'admin' LIMIT 1` })
  return rows.length > 0
}
