import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFree } from './ports.mjs'
import { openCluster, removeCluster, writeRecord } from './postgres-cluster.mjs'
import { environment, NAME } from './postgres-files.mjs'
import { ownerSetting, readPostmaster, stopServer } from './postgres-leftover.mjs'
import { Problem } from './problem.mjs'
import { identify } from './processes.mjs'

/** @typedef {import('./postgres-cluster.mjs').Cluster} Cluster */
/** @typedef {Record<string, string | number>} Settings */
/** @typedef {{ cluster: Cluster, settings: Settings, log: string, signal?: AbortSignal }} Start */
/** @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Exit */
/**
 * @typedef {object} Postgres
 * @property {string} url for a superuser of the database `switchboard`
 * @property {number} port
 * @property {string} version the major one
 * @property {string} folder where its files really are
 * @property {number} pid
 * @property {Promise<Exit>} exited settles when the server ends, for whatever reason
 * @property {(options?: { timeoutMs?: number, remove?: boolean }) => Promise<void>} stop ends the server; `remove` also
 *   deletes its files
 */

const STILL_ENDING = 'Parts of a killed PostgreSQL server still run on these files. Try again in a moment.'
const PORT_TAKEN = 'The port of the database is taken by another program.'
const START_TIMEOUT_MS = 300_000
const SHARED_MEMORY_TIMEOUT_MS = 15_000

/** Starts the PostgreSQL that came with the packages on the files under `dataDir`, made on first use, and returns once
 * it takes connections on 127.0.0.1. It uses `port`, else the port of last time, else a free one. A server left behind
 * by a killed start is ended first; one in use is refused. When our process ends without `stop`, the server follows.
 * @param {{ dataDir: string, port?: number, settings?: Settings, logFile?: string, signal?: AbortSignal }} options `signal`
 *   breaks a start off
 * @returns {Promise<Postgres>} */
export async function startPostgres({ dataDir, port, settings = {}, logFile, signal }) {
  const base = resolve(dataDir)
  const cluster = await openCluster({ dataDir: base, durable: settings.fsync !== 'off' })
  const log = logFile ?? join(base, 'postgres.log')
  const server = await startOnSomePort({ cluster, port, settings, log, signal })
  if (server.port !== cluster.port) writeRecord({ ...cluster, port: server.port })
  const { stop, ...rest } = server
  return {
    ...rest,
    version: cluster.binaries.major,
    folder: cluster.folder,
    url: `postgresql://${NAME}:${cluster.password}@127.0.0.1:${server.port}/${NAME}`,
    stop: async ({ timeoutMs = 5000, remove = false } = {}) => {
      await stop(timeoutMs)
      if (remove) removeCluster(base)
    },
  }
}

/** Below the range from which systems take the ports of outgoing connections: one found there stays free. */
async function freePort() {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(20_000, 32_000)
    if (await isFree(port)) return port
  }
  throw new Problem('No free port was found for the database between 20000 and 32000.')
}

/** @param {Start & { port?: number }} options */
async function startOnSomePort({ port: wanted, ...rest }) {
  const deadline = Date.now() + SHARED_MEMORY_TIMEOUT_MS
  let port = wanted ?? (await portFor(rest.cluster))
  for (;;) {
    const started = await startOnce({ port, ...rest })
    if (started.server) return started.server
    const why = whyNot(started.said)
    if (why === PORT_TAKEN && !wanted) port = await freePort()
    else if (why !== STILL_ENDING || Date.now() > deadline) throw new Problem(`${why}\nIts log: ${rest.log}`)
    await sleep(200)
  }
}

const portFor = async (/** @type {Cluster} */ { port }) => (port && (await isFree(port)) ? port : freePort())

function whyNot(/** @type {string} */ said) {
  // Backends of a server that was killed need a moment to notice.
  if (/pre-existing shared memory block/.test(said)) return STILL_ENDING
  if (/could not (bind|create any TCP)/.test(said)) return PORT_TAKEN
  return `PostgreSQL did not start:\n${said}`
}

/** @param {Start & { port: number }} options */
async function startOnce({ cluster, port, settings, log, signal }) {
  const logStart = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  const child = spawnServer({ cluster, port, settings, log })
  const exited = new Promise((/** @type {(exit: Exit) => void} */ settle) => {
    child.once('error', () => settle({ code: null, signal: null }))
    child.once('exit', (code, signal) => settle({ code, signal }))
  })
  const identity = identify(child.pid ?? 0)
  if (!identity || !(await isReady({ folder: cluster.folder, pid: identity.pid, exited, signal }))) {
    if (identity) await stopServer(identity, 1000)
    signal?.throwIfAborted()
    return { server: null, said: tail(log, logStart) }
  }
  const follower = spawnFollower({ cluster, pid: identity.pid })
  exited.then(() => follower.kill('SIGKILL'))
  const stop = async (/** @type {number} */ timeoutMs) => {
    child.ref()
    await stopServer(identity, timeoutMs)
    await exited
  }
  return { server: { port, pid: identity.pid, exited, stop }, said: '' }
}

/** @param {Start & { port: number }} options */
function spawnServer({ cluster, port, settings, log }) {
  const owner = identify(process.pid)
  if (!owner) throw new Problem('Cannot find out when this process began; is /proc mounted?')
  const all = {
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...settings,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port,
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const out = openSync(log, 'a', 0o600)
  const child = spawn(cluster.binaries.postgres, ['-D', cluster.folder, ...flags, '-c', ownerSetting(owner)], {
    ...cluster.account,
    cwd: '/',
    env: environment(),
    // A group of its own: Ctrl-C must not end the database before those who use it.
    detached: true,
    stdio: ['ignore', out, out],
  })
  closeSync(out)
  child.unref()
  return child
}

/** A shell that waits for our end and then ends the server, if it is still the same, some seconds later: time for its
 * users to finish. It runs as the server's account, so it could not end anybody else's process.
 * @param {{ cluster: Cluster, pid: number }} options */
function spawnFollower({ cluster, pid }) {
  const script = 'read -r _; sleep 4; read -r pid < "$1/postmaster.pid" && [ "$pid" = "$2" ] && kill -INT "$2"'
  const follower = spawn('/bin/sh', ['-c', script, 'sh', cluster.folder, String(pid)], {
    ...cluster.account,
    cwd: '/',
    env: environment(),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  follower.on('error', () => {})
  follower.unref()
  // The pipe alone would keep our process alive.
  const pipe = /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (follower.stdin))
  pipe.unref()
  return follower
}

/** @param {{ folder: string, pid: number, exited: Promise<Exit>, signal?: AbortSignal }} server */
async function isReady({ folder, pid, exited, signal }) {
  let hasExited = false
  exited.then(() => {
    hasExited = true
  })
  const deadline = Date.now() + START_TIMEOUT_MS
  while (!hasExited && !signal?.aborted && Date.now() < deadline) {
    const postmaster = readPostmaster(folder)
    if (postmaster?.pid === pid && postmaster.isReady) return true
    await sleep(15)
  }
  return false
}

const tail = (/** @type {string} */ log, /** @type {number} */ start) =>
  readFileSync(log).subarray(start).toString('utf8').trim().split('\n').slice(-8).join('\n')
