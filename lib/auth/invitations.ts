import { createHash, randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { Role } from '#lib/wire/caller'
import type { Person } from '#lib/wire/person'
import { createPerson, hasAdmin, type NewPerson } from './people'

const FIRST_ADMIN_SECONDS = 24 * 3600

/** An invitation that can still be used. */
export interface Invitation {
  role: Role
  expires_at: string
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/**
 * A new one-time token for the first admin, valid for a day; null once there is an admin. Tokens made so before are void,
 * so that only the link printed last works.
 */
export function inviteFirstAdmin(db: Db): Promise<string | null> {
  return db.transaction(async (tx) => {
    // Of two processes that start at once, the later one must see what the other made.
    await tx.query({ text: `SELECT pg_advisory_xact_lock(hashtext('switchboard first admin'))` })
    if (await hasAdmin(tx)) return null
    const token = randomBytes(32).toString('base64url')
    await tx.query({
      text: `WITH void AS (DELETE FROM invitations WHERE created_by IS NULL AND used_at IS NULL)
        INSERT INTO invitations (id, token_hash, role, expires_at)
        VALUES ($1, $2, 'admin', now() + make_interval(secs => $3))`,
      values: [uuidv7(), hashOf(token), FIRST_ADMIN_SECONDS],
    })
    return token
  })
}

/** The invitation behind a token, or null when it is unknown, used, expired, or the first admin's while there is one. Looking changes nothing. */
export async function findInvitation(db: Db, token: string): Promise<Invitation | null> {
  const [found] = await db.query<Invitation>({
    text: `SELECT role, expires_at FROM invitations WHERE token_hash = $1 AND used_at IS NULL AND expires_at > now()
      AND (created_by IS NOT NULL OR NOT EXISTS (SELECT 1 FROM people WHERE role = 'admin'))`,
    values: [hashOf(token)],
  })
  return found ?? null
}

/**
 * Makes the invited person and uses the invitation up, both or neither; of two at once one gets it. Refuses a token that
 * findInvitation doesn't find with not_found, an e-mail address that is taken with validation_failed.
 */
export function acceptInvitation(db: Db, token: string, person: Omit<NewPerson, 'role'>): Promise<Person> {
  return db.transaction(async (tx) => {
    const found = await findInvitation(tx, token)
    const [used] = await tx.query<{ role: Role }>({
      text: `UPDATE invitations SET used_at = now() WHERE token_hash = $1 AND used_at IS NULL AND expires_at > now()
        RETURNING role`,
      values: [hashOf(token)],
    })
    if (!found || !used) throw new Refusal('not_found', { detail: 'This invitation has been used or has expired' })
    return createPerson(tx, { ...person, role: used.role })
  })
}
