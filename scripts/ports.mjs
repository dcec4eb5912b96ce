import { createServer } from 'node:net'
import { Problem } from './problem.mjs'

const REASONS = /** @type {Record<string, (where: string) => string>} */ ({
  EADDRINUSE: (where) => `${where} is taken by another program. Choose another port: npm start -- --port N`,
  EACCES: (where) => `${where} may not be used by this user. Choose a port above 1023: npm start -- --port N`,
  EADDRNOTAVAIL: (where) => `${where} is no address of this machine. Choose another host: npm start -- --host H`,
  ENOTFOUND: (where) => `${where} is no known host. Choose another: npm start -- --host H`,
})

/** Refuses a port of ours that we could not listen on, before anything long is done.
 * @param {{ host: string, ports: Record<string, number> }} options what each port is for, and its number */
export async function ensurePortsFree({ host, ports }) {
  for (const [purpose, port] of Object.entries(ports)) {
    const code = await tryListening(host, port)
    if (!code) continue
    const where = `${host}:${port} (for the ${purpose})`
    throw new Problem(REASONS[code]?.(where) ?? `Cannot listen on ${where}: ${code}`)
  }
}

/** Whether nobody listens there.
 * @param {number} port @param {string} [host] */
export const isFree = async (port, host = '127.0.0.1') => (await tryListening(host, port)) === null

/** @param {string} host @param {number} port @returns {Promise<string | null>} */
function tryListening(host, port) {
  const probe = createServer()
  return new Promise((settle) => {
    probe.once('error', (/** @type {NodeJS.ErrnoException} */ error) => settle(error.code ?? error.message))
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => settle(null)))
  })
}

/** A host as it stands in an address that this machine can open: a wildcard is reached through loopback.
 * @param {string} host */
export function reachableHost(host) {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
