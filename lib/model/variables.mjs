/** What SWITCHBOARD_LOG_LEVEL may be. */
export const LOG_LEVELS = /** @type {const} */ (['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])

/** How many characters SWITCHBOARD_SECRET needs. */
export const SHORTEST_SECRET = 32

/** @typedef {'server' | 'programs' | 'both' | 'tests'} Reader who reads a variable: web, worker and `npm start`, the
 *   programs beside them (demo, endpoint, person), both, or the tests alone */
/**
 * @typedef {object} Variable
 * @property {Reader} by
 * @property {string} expected what it must be, as it follows its name
 * @property {(text: string) => boolean} isRight
 * @property {boolean} [isSecret] its value is told to nobody
 */

const SHORTEST_TOKEN = 16
const TOKEN = /^[\x21-\x7e]+$/

// Plain JavaScript, since `npm start` reads it before any package is installed.
/** Every environment variable of ours, and the database's. @satisfies {Record<string, Variable>} */
export const VARIABLES = {
  SWITCHBOARD_HOST: {
    by: 'server',
    expected: 'must be a host name or an IP address',
    isRight: (text) => /^[A-Za-z0-9._:%-]+$/.test(text),
  },
  SWITCHBOARD_PORT: {
    by: 'server',
    expected: 'must be a whole number from 0 to 65535',
    isRight: (text) => /^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535,
  },
  SWITCHBOARD_WORKER_URL: {
    by: 'server',
    expected: 'must be the address of the worker, like http://127.0.0.1:4301',
    isRight: (text) => isWebAddress(text),
  },
  SWITCHBOARD_TRUST_PROXY: {
    by: 'server',
    expected: 'must be the number of proxies before the web process, 0 to 9',
    isRight: (text) => /^[0-9]$/.test(text),
  },
  SWITCHBOARD_METRICS_TOKEN: {
    by: 'server',
    expected: `must have at least ${SHORTEST_TOKEN} characters, visible ones of ASCII`,
    isRight: (text) => text.length >= SHORTEST_TOKEN && TOKEN.test(text),
    isSecret: true,
  },
  SWITCHBOARD_SECRET: {
    by: 'server',
    expected: `must have at least ${SHORTEST_SECRET} characters`,
    isRight: (text) => text.length >= SHORTEST_SECRET,
    isSecret: true,
  },
  SWITCHBOARD_HOME: { by: 'both', expected: 'must be a folder', isRight: () => true },
  SWITCHBOARD_LOG_LEVEL: {
    by: 'both',
    expected: `must be one of ${LOG_LEVELS.join(', ')}`,
    isRight: (text) => LOG_LEVELS.some((level) => level === text),
  },
  SWITCHBOARD_PUBLIC_URL: {
    by: 'both',
    expected: 'must look like https://switchboard.example, without a name, a password or a path',
    isRight: (text) => isWebAddress(text) && new URL(text).pathname === '/',
  },
  DATABASE_URL: {
    by: 'both',
    expected: 'must look like postgresql://user:password@host:5432/database',
    isRight: (text) => /^postgres(ql)?:$/.test(addressOf(text)?.protocol ?? ''),
    isSecret: true,
  },
  SWITCHBOARD_URL: {
    by: 'programs',
    expected: 'must be the address of Switchboard, like http://127.0.0.1:4300',
    isRight: (text) => isWebAddress(text),
  },
  SWITCHBOARD_TOKEN: {
    by: 'programs',
    expected: "must be an endpoint's token, without spaces",
    isRight: (text) => TOKEN.test(text),
    isSecret: true,
  },
  SWITCHBOARD_BROWSER: { by: 'tests', expected: 'must be the path of a Chromium', isRight: () => true },
  SWITCHBOARD_PROVE: { by: 'tests', expected: 'must be 1', isRight: (text) => text === '1' },
  SWITCHBOARD_TEST_DOOR: { by: 'tests', expected: 'must be next', isRight: (text) => text === 'next' },
}

/**
 * What is wrong with the variables that somebody reads, a line for each: its name, what it must be and, unless that is
 * secret, what it is; also a name that is nearly one of ours. Empty ones count as not set.
 * @param {Record<string, string | undefined>} env @param {'server' | 'programs' | 'tests'} reader @returns {string[]}
 */
export function wrongVariables(env, reader) {
  const rows = /** @type {[string, Variable][]} */ (Object.entries(VARIABLES))
  const wrong = rows
    .filter(([, { by }]) => by === reader || (by === 'both' && reader !== 'tests'))
    .filter(([name, { isRight }]) => env[name] && !isRight(env[name]))
    .map(([name, row]) => `${name} ${row.expected}${row.isSecret ? '' : `, not ${shown(env[name] ?? '')}`}`)
  return [...wrong, ...misspelled(env)]
}

// An address may hold a password, and the message goes into logs.
const shown = (/** @type {string} */ text) => JSON.stringify(text.replace(/\/\/[^/]*@/, '//…@'))

// Container platforms set SERVICE_HOST and the like under our prefix, so only what is nearly ours is refused.
function misspelled(/** @type {Record<string, string | undefined>} */ env) {
  const given = Object.keys(env).filter((name) => /^SWITCHBOARD_?/i.test(name) && env[name] && !(name in VARIABLES))
  return given.flatMap((name) => {
    const meant = Object.keys(VARIABLES).find((ours) => isNearly(name.toUpperCase(), ours))
    return meant ? [`${name} is not known: ${meant} is probably meant`] : []
  })
}

const PREFIX = 'SWITCHBOARD_'.length

// A short name is soon like another one.
const isNearly = (/** @type {string} */ name, /** @type {string} */ ours) =>
  distance(name, ours) <= (ours.length - PREFIX < 6 ? 1 : 2)

/** How many letters were left out, added, changed or swapped with their neighbour.
 * @param {string} from @param {string} to */
function distance(from, to) {
  const [before, last] = [[], Array.from({ length: to.length + 1 }, (_, at) => at)]
  let rows = { before, last }
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const changed = rows.last[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row.push(Math.min(rows.last[j] + 1, row[j - 1] + 1, changed, isSwap ? rows.before[j - 2] + 1 : changed))
    }
    rows = { before: rows.last, last: row }
  }
  return rows.last[to.length]
}

function addressOf(/** @type {string} */ text) {
  return URL.canParse(text) ? new URL(text) : null
}

/** Whether a text is an address of the web that holds no name, password, query or fragment. @param {string} text */
function isWebAddress(text) {
  const { protocol = '', username, password, search, hash } = addressOf(text) ?? {}
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}
