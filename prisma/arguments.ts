import { parseArgs } from 'node:util'
import { readMigrations } from './folder'

/** What the command line understands. */
export const USAGE = `Usage: npm run migrate -- <command>

  up              apply every migration that is missing
  down --to NAME  take back every migration after NAME, newest first; --to none takes back all
  status          show what is applied and what is not

NAME is a folder under prisma/migrations, or its part after the date. The database is the one that DATABASE_URL
names, else the one that npm start runs.
`

// Not NodeJS.ProcessEnv: Next's types make NODE_ENV obligatory in it.
type Environment = Record<string, string | undefined>

/** What to do; `keep` null takes back everything. */
export type Command = { verb: 'up' } | { verb: 'status' } | { verb: 'help' } | { verb: 'down'; keep: string | null }

/** Reads the command line; throws with a message to show above the usage. */
export function parse(argv: string[], env: Environment): Command {
  const { values, positionals } = parseArgs({
    args: argv,
    options: { to: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  })
  if (values.help) return { verb: 'help' }
  const [verb, ...rest] = positionals
  if (rest.length > 0) throw new Error(`unexpected argument: ${rest.join(' ')}`)
  if (verb === 'down') return { verb, keep: keptName(values.to, env) }
  if (values.to !== undefined) throw new Error('--to belongs to down')
  if (verb === 'up' || verb === 'status') return { verb }
  throw new Error(verb === undefined ? 'a command is missing' : `unknown command: ${verb}`)
}

function keptName(to: string | undefined, env: Environment): string | null {
  // Without the two dashes npm takes the flag for one of its own.
  if (env.npm_config_to)
    throw new Error('npm kept --to for itself; write two dashes before it: npm run migrate -- down --to NAME')
  if (to === undefined) throw new Error('down needs --to NAME, or --to none')
  if (to === 'none') return null
  const names = readMigrations().map(({ name }) => name)
  const found = names.find((name) => name === to || name.slice(name.indexOf('_') + 1) === to)
  if (found) return found
  throw new Error(`there is no migration ${to}; there are: ${names.join(', ')}`)
}
