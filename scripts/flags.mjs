import { parseArgs } from 'node:util'
import { VARIABLES, wrongVariables } from '../lib/model/variables.mjs'
import { Problem } from './problem.mjs'

/** @typedef {{ host: string, port: number, isHelp: boolean }} Flags */

export const USAGE = `Usage: npm start -- [--port N] [--host H]

  --port N   port of the pages and the API; the worker takes the one after it (4300)
  --host H   address to listen on (127.0.0.1; 0.0.0.0 for all)
  --help     this text

The same by environment: SWITCHBOARD_PORT, SWITCHBOARD_HOST. DATABASE_URL names a PostgreSQL server to use instead of
the one that comes along; SWITCHBOARD_HOME a folder for data and logs instead of .switchboard.
`

const OPTIONS = /** @type {const} */ ({
  port: { type: 'string' },
  host: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
})

/** Reads flags and their environment mirrors; refuses what it does not know.
 * @param {string[]} argv @param {Record<string, string | undefined>} env @returns {Flags} */
export function parseFlags(argv, env) {
  refuseSwallowed(argv, env)
  const { values, positionals } = parse(argv)
  if (positionals.length > 0) throw new Problem(`Unexpected argument: ${positionals.join(' ')}\n\n${USAGE}`)
  return {
    port:
      values.port === undefined
        ? portFrom(env.SWITCHBOARD_PORT || '4300', 'SWITCHBOARD_PORT')
        : portFrom(values.port, '--port'),
    host:
      values.host === undefined
        ? hostFrom(env.SWITCHBOARD_HOST || '127.0.0.1', 'SWITCHBOARD_HOST')
        : hostFrom(values.host, '--host'),
    isHelp: values.help ?? false,
  }
}

/** Refuses an environment that web process or worker would refuse, before anything is made; what flags say counts more.
 * @param {Pick<Flags, 'host' | 'port'>} flags @param {Record<string, string | undefined>} env */
export function refuseWrongVariables({ host, port }, env) {
  const wrong = wrongVariables({ ...env, SWITCHBOARD_HOST: host, SWITCHBOARD_PORT: String(port) }, 'server')
  if (wrong.length > 0) throw new Problem(wrong.join('\n'))
}

/** Without the two dashes npm keeps a flag for itself, and Switchboard would start somewhere else than asked.
 * @param {string[]} argv @param {Record<string, string | undefined>} env */
function refuseSwallowed(argv, env) {
  for (const name of ['port', 'host']) {
    const value = env[`npm_config_${name}`]
    if (value === undefined || argv.some((flag) => flag.startsWith(`--${name}`))) continue
    const shown = value === 'true' ? (argv[0] ?? '…') : value
    throw new Problem(`npm kept --${name} for itself. Write two dashes before it: npm start -- --${name} ${shown}`)
  }
}

function parse(/** @type {string[]} */ argv) {
  try {
    return parseArgs({ args: argv, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    const message = /** @type {Error} */ (error).message.split('. To specify')[0]
    throw new Problem(`${message}\n\n${USAGE}`)
  }
}

function portFrom(/** @type {string} */ text, /** @type {string} */ source) {
  const port = Number(text)
  // The worker takes the port after it.
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_534) return port
  throw new Problem(`${source} must be a whole number from 1 to 65534, not "${text}".`)
}

function hostFrom(/** @type {string} */ text, /** @type {string} */ source) {
  const { isRight, expected } = VARIABLES.SWITCHBOARD_HOST
  if (isRight(text)) return text
  throw new Problem(`${source} ${expected}, not "${text}".`)
}
