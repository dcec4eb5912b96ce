import { randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { createPerson, type ListedPerson, listPeople } from '#lib/auth/people'
import type { Database } from '#lib/db/connect'
import { newPassword, type Person } from '#lib/wire/person'
import { plainWords } from '#lib/wire/plain-words'
import { BadArguments, columns, type Program } from './command-line'
import { readInstance } from './instance.mjs'
import { type Command, readCommand, USAGE } from './person-arguments'

/** `npm run person`: makes people and shows them. */
export const PERSON: Program<Command> = { name: 'person', usage: USAGE, read: readCommand, run }

async function run(db: Database, command: Command): Promise<string> {
  if (command.verb === 'list') return listing(await listPeople(db))
  const { takesPassword, ...person } = command.wanted
  const password = takesPassword ? await givenPassword() : randomBytes(15).toString('base64url')
  return made(await createPerson(db, { ...person, password }), takesPassword ? null : password)
}

async function givenPassword(): Promise<string> {
  const given = (await text(process.stdin)).replace(/\r?\n$/, '')
  const { error } = newPassword.safeParse(given, { error: plainWords })
  if (error) throw new BadArguments(`the password on standard input: ${error.issues[0]?.message}`)
  return given
}

function made({ name, email, role }: Person, password: string | null): string {
  const url = process.env.SWITCHBOARD_PUBLIC_URL || readInstance()?.url
  return [
    `${name} may sign in${url ? ` at ${url}/sign-in` : ''}.`,
    '',
    `E-mail    ${email}`,
    `Role      ${role}`,
    ...(password ? [`Password  ${password}`, '', 'The password is shown only now; Switchboard keeps its hash.'] : []),
  ].join('\n')
}

function listing(people: ListedPerson[]): string {
  if (people.length > 0) return columns(['e-mail', 'name', 'role', 'since', 'signed in'], people.map(rowOf))
  return 'There is nobody yet. Make somebody: npm run person -- create EMAIL --name NAME --role admin'
}

const rowOf = ({ email, name, role, created_at, signed_in_at }: ListedPerson): string[] => [
  email,
  name,
  role,
  created_at.slice(0, 10),
  signed_in_at ?? 'no',
]
