import { connect } from 'node:net'
import { Problem } from './problem.mjs'

const TIMEOUT_MS = 5000
const LEAST_VERSION = 15

const ADVICE = 'Check DATABASE_URL, or unset it to use the database that comes with Switchboard.'

const REASONS = /** @type {Record<string, string>} */ ({
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no such host is known',
  EAI_AGAIN: 'the name of the host could not be looked up',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  'timeout expired': 'it does not answer',
  '28P01': 'the password is wrong',
  28000: 'this user may not connect',
  '3D000': 'there is no such database; create it first',
  53300: 'the server has no free connection',
  57: 'the server is starting or stopping',
})

/** Looks with nothing but Node whether a database address makes sense and somebody listens there, within seconds.
 * @param {string} url */
export async function ensureReachable(url) {
  const { hostname, port } = parseAddress(url)
  if (!hostname) return
  const code = await tryConnecting(hostname.replace(/^\[|\]$/g, ''), Number(port || 5432))
  if (code) throw new Problem(unreachable(url, code))
}

/** Signs in to the database and refuses a server that is too old. The packages must be installed.
 * @param {string} url @returns {Promise<string>} which server it is */
export async function ensureUsable(url) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query("SELECT current_setting('server_version_num')::int / 10000 AS major")
    if (rows[0].major >= LEAST_VERSION) return `PostgreSQL ${rows[0].major} at ${shown(url)}`
    throw new Problem(`${shown(url)} is PostgreSQL ${rows[0].major}; Switchboard needs ${LEAST_VERSION} or later.`)
  } catch (error) {
    if (error instanceof Problem) throw error
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    throw new Problem(unreachable(url, code ?? '', message))
  } finally {
    await client.end().catch(() => {})
  }
}

function parseAddress(/** @type {string} */ url) {
  try {
    const address = new URL(url)
    if (address.protocol === 'postgres:' || address.protocol === 'postgresql:') return address
  } catch {
    // The message below says what an address looks like.
  }
  throw new Problem(`DATABASE_URL must look like postgresql://user:password@host:5432/database. ${ADVICE}`)
}

/** @param {string} host @param {number} port @returns {Promise<string | null>} */
function tryConnecting(host, port) {
  const socket = connect({ host, port, timeout: TIMEOUT_MS })
  return new Promise((settle) => {
    const end = (/** @type {string | null} */ code) => {
      socket.destroy()
      settle(code)
    }
    socket.once('connect', () => end(null))
    socket.once('timeout', () => end('ETIMEDOUT'))
    socket.once('error', (/** @type {NodeJS.ErrnoException} */ error) => end(error.code ?? error.message))
  })
}

function unreachable(/** @type {string} */ url, /** @type {string} */ code, /** @type {string} */ message = code) {
  const why = REASONS[code] ?? REASONS[message] ?? REASONS[code.slice(0, 2)] ?? message
  return `The database at ${shown(url)} cannot be used: ${why}. ${ADVICE}`
}

/** An address without its password and its options, for messages.
 * @param {string} url */
function shown(url) {
  const { hostname, port, pathname } = new URL(url)
  return `${hostname || 'the local socket'}${port ? `:${port}` : ''}${pathname}`
}
