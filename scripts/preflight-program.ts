import { parseArgs } from 'node:util'
import { type Preflight, preflight } from '#lib/queue/preflight'
import { BadArguments, columns, type Program } from './command-line'

/** What `npm run preflight` is to do. */
export interface PreflightCommand {
  json: boolean
}

const USAGE = `Usage: npm run preflight [-- --json]

Checks, and changes nothing: whether the database is at the revision that this build knows, and whether every todo keeps
every rule of the model (attempts, questions, leases, counters, families, effects and events agree). Run it before and
after an upgrade, and after a restore. The database is the one that DATABASE_URL names, else the one npm start runs.

  --json   print one JSON object: ok, at, revision {build, database, matches}, breaches [{rule, todo_id, found}]

Exit code: 0 all is well; 1 the database could not be read; 2 wrong arguments; 3 revisions differ, or a rule is broken.
`

const NOT_WELL = 3

/** Checks a database before or after a deployment. */
export const PREFLIGHT: Program<PreflightCommand> = {
  name: 'preflight',
  usage: USAGE,
  read: (argv, env) => {
    const { json, help } = read(argv)
    if (env.npm_config_json) throw new BadArguments('npm kept --json for itself: write npm run preflight -- --json')
    return help ? null : { json: json === true }
  },
  run: async (db, { json }) => {
    const checked = await preflight(db)
    const said = json ? JSON.stringify(checked, null, 2) : inWords(checked)
    return { said, exitCode: checked.ok ? 0 : NOT_WELL }
  },
}

function read(argv: string[]) {
  try {
    const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
    return parseArgs({ args: argv, options }).values
  } catch (error) {
    throw new BadArguments((error as Error).message)
  }
}

/** What was found, for people. */
function inWords({ revision: { build, database, matches }, breaches }: Preflight): string {
  if (!matches) {
    const at = database === null ? 'has no migrations' : `is at ${database}`
    return `This build knows ${build}, the database ${at}. Run npm run migrate -- status.`
  }
  const standing = `Revision ${build}: build and database match.`
  if (!breaches || breaches.length === 0) return `${standing}\nEvery todo keeps every rule.`
  const rows = breaches.map(({ rule, todo_id, found }) => [todo_id, rule, found])
  const atLeast = breaches.length === 100 ? 'at least ' : ''
  return `${standing}\n${atLeast}${breaches.length} broken:\n\n${columns(['todo', 'rule', 'found'], rows)}`
}
