import { parseArgs } from 'node:util'
import { z } from 'zod'
import { ROLES, role } from '#lib/wire/caller'
import { email, personName } from '#lib/wire/person'
import { plainWords } from '#lib/wire/plain-words'
import { BadArguments } from './command-line'

export const USAGE = `Usage: npm run person -- <command>

  create EMAIL --name NAME [--role R] [--password-stdin]
               make a person who may sign in; prints a password, this once, unless one is given on standard input
  list         show everybody

Roles: ${ROLES.join(', ')}; each may what the one before may. A viewer unless said. The database is the one that
DATABASE_URL names, else the one that npm start runs.
`

const wantedSchema = z.object({ email, name: personName, role })

/** A person to be made, but for the password, which may come on standard input. */
export type Wanted = z.infer<typeof wantedSchema> & { takesPassword: boolean }

/** What to do. */
export type Command = { verb: 'list' } | { verb: 'create'; wanted: Wanted }

const OPTIONS = {
  name: { type: 'string' },
  role: { type: 'string' },
  'password-stdin': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

type Flags = ReturnType<typeof parse>['values']

/** Reads the arguments, null when the usage is wanted; throws BadArguments for whatever it doesn't know. */
export function readCommand(argv: string[], env: NodeJS.ProcessEnv): Command | null {
  refuseSwallowed(env)
  const { values, positionals } = parse(argv)
  const [verb, address, ...rest] = positionals
  if (values.help) return null
  if (rest.length > 0) throw new BadArguments(`unexpected argument: ${rest.join(' ')}`)
  if (verb === 'create') return { verb, wanted: wantedFrom(address, values) }
  const flag = Object.keys(values)[0]
  if (flag) throw new BadArguments(`--${flag} belongs to create`)
  if (verb === 'list' && address === undefined) return { verb }
  if (verb === 'list') throw new BadArguments('list takes no address')
  throw new BadArguments(verb ? `unknown command: ${verb}` : 'a command is missing')
}

// Without the two dashes npm takes a flag for one of its own, and the person would get another role than was asked for.
function refuseSwallowed(env: NodeJS.ProcessEnv): void {
  const flag = ['role', 'password-stdin'].find((flag) => env[`npm_config_${flag.replaceAll('-', '_')}`] !== undefined)
  if (flag) throw new BadArguments(`npm kept --${flag} for itself; write two dashes first: npm run person -- create …`)
}

function parse(argv: string[]) {
  try {
    return parseArgs({ args: argv, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new BadArguments((error as Error).message.split('. To specify')[0])
  }
}

function wantedFrom(address: string | undefined, flags: Flags): Wanted {
  if (address === undefined) throw new BadArguments('create needs an e-mail address')
  if (flags.name === undefined) throw new BadArguments('create needs --name')
  const parsed = wantedSchema.safeParse(
    { email: address, name: flags.name, role: flags.role ?? 'viewer' },
    { error: plainWords },
  )
  if (parsed.success) return { ...parsed.data, takesPassword: flags['password-stdin'] ?? false }
  throw new BadArguments(
    parsed.error.issues.map(({ path, message }) => `${FLAGS[String(path[0])]}: ${message}`).join('\n'),
  )
}

const FLAGS: Record<string, string> = { email: 'EMAIL', name: '--name', role: '--role' }
