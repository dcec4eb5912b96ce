import { z } from 'zod'
import { role, scope } from './caller'
import { name } from './scalars'

// Control characters, and those that turn the direction of what follows: a name stands beside other names.
const UNSHOWABLE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** What a person is called. */
export const personName = z
  .string()
  .trim()
  .min(1, 'is required')
  .max(100)
  .refine((text) => !UNSHOWABLE.test(text), 'must not hold control characters')

/** An e-mail address, by which a person signs in; upper and lower case are the same. */
export const email = z.email('must be an e-mail address').max(254).toLowerCase()

/** A password as it may be set. */
export const newPassword = z.string().min(12, 'needs at least 12 characters').max(200)

/** A person as others may know them. */
export const personSchema = z.object({ id: z.string(), name: z.string(), email: z.string(), role })
export type Person = z.infer<typeof personSchema>

export const personAnswer = z.object({ person: personSchema })

/** How somebody signs in; what may be wrong with it is told to nobody. */
export const signInSchema = z.strictObject({ email, password: z.string().min(1, 'is required').max(200) })

/** How somebody with an invitation's token becomes a person. */
export const acceptInvitationSchema = z.strictObject({
  token: z.string().min(1).max(200),
  name: personName,
  email,
  password: newPassword,
})

/** Who is calling: a person or an endpoint, the other being null, and what they may. */
export const meAnswer = z.object({
  person: personSchema.omit({ role: true }).nullable(),
  endpoint: z.object({ id: z.string(), name, queues: z.array(name).nullable().describe('Null means all') }).nullable(),
  role: role.nullable().describe("A person's role"),
  scopes: z.array(scope).nullable().describe("An endpoint's scopes"),
})

/** What people are called, by the id that actors like `user:…` hold. */
export const namesAnswer = z.object({ names: z.array(personSchema.pick({ id: true, name: true })) })
