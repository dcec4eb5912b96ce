import { v7 as uuidv7 } from 'uuid'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { Person } from '#lib/wire/person'

/** A person to be made, who signs in with e-mail and password. */
export interface NewPerson extends Omit<Person, 'id'> {
  password: string
}

/** Makes a person who may sign in at once. Refuses an e-mail address that is taken with validation_failed. */
export async function createPerson(db: Db, { name, email, password, role }: NewPerson): Promise<Person> {
  const { hashPassword } = await import('better-auth/crypto')
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
  throw new Refusal('validation_failed', {
    detail: '/email somebody has this address already',
    errors: [{ pointer: '/email', message: 'somebody has this address already' }],
  })
}

/** A person as people see them in a list. */
export interface ListedPerson extends Person {
  created_at: string
  /** When they last signed in on a browser that is still signed in; null when there is none. */
  signed_in_at: string | null
}

/** Everybody who may sign in, by e-mail address. */
export const listPeople = (db: Db): Promise<ListedPerson[]> =>
  db.query<ListedPerson>({
    text: `SELECT p.id, p.name, p.email, p.role, p.created_at, s.signed_in_at FROM people p LEFT JOIN LATERAL (
        SELECT max(created_at) AS signed_in_at FROM sessions WHERE person_id = p.id AND expires_at > now()) s ON true
      ORDER BY p.email`,
  })

/** One person, or null. */
export async function findPerson(db: Db, id: string): Promise<Person | null> {
  const [person] = await db.query<Person>({
    name: 'person',
    text: 'SELECT id, name, email, role FROM people WHERE id = $1',
    values: [id],
  })
  return person ?? null
}

/** What everybody is called, by name. */
export const listNames = (db: Db): Promise<Pick<Person, 'id' | 'name'>[]> =>
  db.query({ name: 'names', text: 'SELECT id, name FROM people ORDER BY name, id' })

/** Whether there is anybody who may change settings, people and endpoints. */
export async function hasAdmin(db: Db): Promise<boolean> {
  const rows = await db.query({ text: `SELECT 1 FROM people WHERE role = 'admin' LIMIT 1` })
  return rows.length > 0
}
