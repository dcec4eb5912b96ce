import { parseArgs } from 'node:util'
import { type NewEndpoint, newEndpointSchema } from '#lib/auth/endpoints'
import { SCOPES, type Scope } from '#lib/wire/caller'
import { plainWords } from '#lib/wire/plain-words'

export const USAGE = `Usage: npm run endpoint -- <command>

  create NAME --scopes S,S [--queues Q,Q] [--lease-seconds N] [--expires-in 30d | --expires-at TIME]
               make an endpoint for an agent and print its token, this once
  list         show the endpoints
  revoke NAME  end one: its token works no more, what is assigned to it fails, what it holds goes back

Scopes: ${SCOPES.join(', ')}. Without --queues an endpoint may use all of them; --lease-seconds (1 to 86400) is how long
its claims hold unless they say. With --expires-in (a number and s, m, h or d) or --expires-at (as 2027-01-31T12:00:00Z)
it is revoked by itself then. The database is the one that DATABASE_URL names, else the one that npm start runs.
`

/** Arguments that make no sense, and why. */
export class BadArguments extends Error {
  override readonly name = 'BadArguments'
}

/** What to do. */
export type Command =
  | { verb: 'help' }
  | { verb: 'list' }
  | { verb: 'create'; wanted: NewEndpoint }
  | { verb: 'revoke'; name: string }

const OPTIONS = {
  scopes: { type: 'string' },
  queues: { type: 'string' },
  'lease-seconds': { type: 'string' },
  'expires-in': { type: 'string' },
  'expires-at': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

type Flags = ReturnType<typeof parse>['values']

/** Reads the arguments; throws BadArguments for whatever it doesn't know. */
export function readCommand(argv: string[], env: NodeJS.ProcessEnv): Command {
  refuseSwallowed(env)
  const { values, positionals } = parse(argv)
  const [verb, name, ...rest] = positionals
  if (values.help) return { verb: 'help' }
  if (rest.length > 0) throw new BadArguments(`unexpected argument: ${rest.join(' ')}`)
  if (verb === 'create') return { verb, wanted: wantedFrom(name, values) }
  const flag = Object.keys(values)[0]
  if (flag) throw new BadArguments(`--${flag} belongs to create`)
  if (verb === 'list' && name === undefined) return { verb }
  if (verb === 'revoke' && name !== undefined) return { verb, name }
  throw new BadArguments(PROBLEMS[verb ?? ''] ?? (verb ? `unknown command: ${verb}` : 'a command is missing'))
}

const PROBLEMS: Record<string, string> = { list: 'list takes no name', revoke: 'revoke needs the name of an endpoint' }

// Without the two dashes npm takes a flag for one of its own, and the endpoint would get less or more than was asked for.
function refuseSwallowed(env: NodeJS.ProcessEnv): void {
  const name = Object.keys(OPTIONS).find(
    (flag) => flag !== 'help' && env[`npm_config_${flag.replaceAll('-', '_')}`] !== undefined,
  )
  if (name)
    throw new BadArguments(`npm kept --${name} for itself; write two dashes first: npm run endpoint -- create …`)
}

function parse(argv: string[]) {
  try {
    return parseArgs({ args: argv, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new BadArguments((error as Error).message.split('. To specify')[0])
  }
}

function wantedFrom(name: string | undefined, flags: Flags): NewEndpoint {
  const { scopes, queues, 'lease-seconds': lease, 'expires-in': expiresIn, 'expires-at': expiresAt } = flags
  if (name === undefined) throw new BadArguments('create needs a name')
  if (scopes === undefined) throw new BadArguments('create needs --scopes')
  if (expiresIn !== undefined && expiresAt !== undefined)
    throw new BadArguments('--expires-in or --expires-at, not both')
  const parsed = newEndpointSchema.safeParse(
    {
      name,
      scopes: listed(scopes).map(scopeFrom),
      ...(queues === undefined ? {} : { queues: listed(queues) }),
      ...(lease === undefined ? {} : { default_lease_seconds: secondsFrom(lease) }),
      ...(expiresIn === undefined ? {} : { expires_in_seconds: spanFrom(expiresIn) }),
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    },
    { error: plainWords },
  )
  if (parsed.success) return parsed.data
  throw new BadArguments(
    parsed.error.issues.map(({ path, message }) => `${FLAGS[String(path[0])]}: ${message}`).join('\n'),
  )
}

const FLAGS: Record<string, string> = {
  name: 'NAME',
  scopes: '--scopes',
  queues: '--queues',
  expires_in_seconds: '--expires-in',
  expires_at: '--expires-at',
}

const listed = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

function scopeFrom(word: string): Scope {
  const scope = SCOPES.find((known) => known === word)
  if (scope) return scope
  throw new BadArguments(`--scopes: ${word} is none of ${SCOPES.join(', ')}`)
}

function secondsFrom(text: string): number {
  const seconds = Number(text)
  if (/^[0-9]{1,5}$/.test(text) && seconds >= 1 && seconds <= 86_400) return seconds
  throw new BadArguments('--lease-seconds: must be a whole number from 1 to 86400')
}

const IN_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

function spanFrom(text: string): number {
  const [, count, unit] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? []
  if (count && unit) return Number(count) * (IN_SECONDS[unit] ?? 0)
  throw new BadArguments('--expires-in: must be a whole number and s, m, h or d, as 30d')
}
