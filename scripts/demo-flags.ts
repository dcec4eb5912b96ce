import { parseArgs } from 'node:util'
import { AUTO_RULE } from './demo-question'
import { Problem } from './problem.mjs'

/** What the demo is told to do. */
export interface DemoFlags {
  does: 'review' | 'answer' | 'clean' | 'help'
  isAuto: boolean
  /** How many packages at most; null for all. */
  limit: number | null
  workers: number
  /** How long each review takes at least. */
  paceMs: number
}

export const DEMO_USAGE = `Usage: npm run demo -- [options]

Reviews the licences of the packages installed in node_modules: one todo for each, three workers, one of which is killed
while it works. What manifest and files leave open, a person is asked; what carries duties, a person has to approve.

  --auto        answer the questions by a rule: ${AUTO_RULE}
  --limit N     only the first N packages
  --workers N   how many worker processes, from 2 to 20 (3)
  --pace MS     how long a review takes at least, so that there is something to watch (200)
  --answer      only answer open questions, in this terminal
  --clean       cancel the todos that an earlier run left, and revoke its endpoints
  --help        this text

It uses the Switchboard that SWITCHBOARD_URL names, else the one running from this folder, else it starts one for as long
as it needs it. It makes the endpoints it needs in that Switchboard's database (DATABASE_URL, else the one in use); where
it has no database, SWITCHBOARD_TOKEN must hold a token with the scopes enqueue, work, read, answer and operate.
`

const OPTIONS = {
  auto: { type: 'boolean' },
  answer: { type: 'boolean' },
  clean: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  limit: { type: 'string' },
  workers: { type: 'string' },
  pace: { type: 'string' },
} as const

/** Reads the demo's flags; refuses what it does not know, and what npm has kept for itself. */
export function parseDemoFlags(argv: string[], env: Record<string, string | undefined>): DemoFlags {
  refuseSwallowed(env)
  const values = parse(argv)
  return {
    does: values.help ? 'help' : values.clean ? 'clean' : values.answer ? 'answer' : 'review',
    isAuto: values.auto ?? false,
    limit: values.limit === undefined ? null : whole(values.limit, { name: 'limit', least: 1, most: 100_000 }),
    workers: whole(values.workers ?? '3', { name: 'workers', least: 2, most: 20 }),
    paceMs: whole(values.pace ?? '200', { name: 'pace', least: 0, most: 60_000 }),
  }
}

/** Without the two dashes npm takes a flag for its own. */
function refuseSwallowed(env: Record<string, string | undefined>): void {
  const kept = Object.keys(OPTIONS).find((name) => name !== 'help' && env[`npm_config_${name}`] !== undefined)
  if (kept) throw new Problem(`npm kept --${kept} for itself. Write two dashes before it: npm run demo -- --${kept}`)
}

function parse(argv: string[]) {
  try {
    return parseArgs({ args: argv, options: OPTIONS }).values
  } catch (error) {
    throw new Problem(`${(error as Error).message.split('. To specify')[0]}\n\n${DEMO_USAGE}`)
  }
}

interface Range {
  name: string
  least: number
  most: number
}

function whole(text: string, { name, least, most }: Range): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw new Problem(`--${name} must be a whole number from ${least} to ${most}, not "${text}".`)
}
