import { randomBytes } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { alterPassword, createFiles, removeUnfinished } from './postgres-files.mjs'
import { endLeftover } from './postgres-leftover.mjs'
import { accountFor, binariesFor, giveTo, isReachable, moveFolder, sharedFolder } from './postgres-place.mjs'
import { Problem } from './problem.mjs'

/** @typedef {import('./postgres-place.mjs').Account} Account */
/** @typedef {import('./postgres-place.mjs').Binaries} Binaries */
/** @typedef {{ folder: string, account: Account, binaries: Binaries, password: string, port: number | null }} Cluster */

const RECORD = 'switchboard.json'

/** Finds the database files under `dataDir`, with no server on them any more, and makes them when there are none. Being
 * killed at any moment leaves either complete files or none.
 * @param {{ dataDir: string, durable: boolean }} options @returns {Promise<Cluster>} */
export async function openCluster({ dataDir, durable }) {
  mkdirSync(dataDir, { recursive: true })
  const account = accountFor(firstThatExists(dataDir))
  const binaries = binariesFor(account)
  const place = join(dataDir, binaries.major)
  refuseOtherMajor(dataDir, binaries.major)
  removeUnfinished(dataDir)
  if (!isThere(place)) createCluster({ dataDir, place, account, binaries, durable })
  await endLeftover(realpathSync(place))
  const folder = makeReachable(place, account)
  return { folder, account, binaries, ...(readRecord(folder) ?? newPassword({ folder, account, binaries })) }
}

/** Keeps password and port beside the files, readable by nobody else.
 * @param {Pick<Cluster, 'folder' | 'account' | 'password' | 'port'>} cluster */
export function writeRecord({ folder, account, password, port }) {
  const path = join(folder, RECORD)
  writeFileSync(`${path}.new`, `${JSON.stringify({ password, port })}\n`, { mode: 0o600 })
  giveTo(`${path}.new`, account)
  renameSync(`${path}.new`, path)
}

/** Removes the database files, wherever they are.
 * @param {string} dataDir */
export function removeCluster(dataDir) {
  if (!existsSync(dataDir)) return
  for (const name of clustersIn(dataDir)) {
    const path = join(dataDir, name)
    if (lstatSync(path).isSymbolicLink()) rmSync(readlinkSync(path), { recursive: true, force: true })
  }
  rmSync(dataDir, { recursive: true, force: true })
}

const clustersIn = (/** @type {string} */ dataDir) => readdirSync(dataDir).filter((name) => /^\d+$/.test(name))

const firstThatExists = (/** @type {string} */ dataDir) => join(dataDir, clustersIn(dataDir)[0] ?? 'none')

function refuseOtherMajor(/** @type {string} */ dataDir, /** @type {string} */ major) {
  const found = clustersIn(dataDir)
  if (found.length === 0 || found.includes(major)) return
  throw new Problem(
    `${dataDir} holds the data of PostgreSQL ${found.join(', ')}, but this version of Switchboard brings PostgreSQL ${major}. ` +
      'Dump the database with the version that wrote it and load the dump here, or move the folder away to begin anew.',
  )
}

/** True also for a link that leads nowhere: then the files are lost or not mounted, and making new ones would hide it. */
function isThere(/** @type {string} */ place) {
  if (!lstatSync(place, { throwIfNoEntry: false })) return false
  if (existsSync(place)) return true
  throw new Problem(
    `The database files were in ${readlinkSync(place)}, but that folder is gone. Bring it back, or remove ${place} to begin with an empty database.`,
  )
}

/** @param {{ dataDir: string, place: string, account: Account, binaries: Binaries, durable: boolean }} options */
function createCluster({ dataDir, place, account, binaries, durable }) {
  const password = randomBytes(24).toString('hex')
  const { draft, folder } = createFiles({ dataDir, account, binaries, password, durable })
  try {
    writeRecord({ folder, account, password, port: null })
    if (draft.startsWith(dataDir)) return renameSync(folder, place)
    moveAndLink({ folder, place, account })
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** The files by their real name, moved first if the account cannot reach them (any more).
 * @param {string} place @param {Account} account */
function makeReachable(place, account) {
  const folder = realpathSync(place)
  if (account.uid !== undefined && lstatSync(folder).uid === 0) giveTo(folder, account)
  return isReachable(folder, account) ? folder : moveAndLink({ folder, place, account })
}

/** @param {{ folder: string, place: string, account: Account }} options */
function moveAndLink({ folder, place, account }) {
  const home = join(sharedFolder(account), `database-${randomBytes(6).toString('hex')}`)
  moveFolder(folder, home)
  rmSync(place, { force: true })
  symlinkSync(home, place)
  return home
}

/** The password is known from our record alone; without the record there must be a new one.
 * @param {Pick<Cluster, 'folder' | 'account' | 'binaries'>} cluster */
function newPassword({ folder, account, binaries }) {
  const password = randomBytes(24).toString('hex')
  alterPassword({ folder, account, binaries, password })
  writeRecord({ folder, account, password, port: null })
  return { password, port: null }
}

function readRecord(/** @type {string} */ folder) {
  try {
    const { password, port } = JSON.parse(readFileSync(join(folder, RECORD), 'utf8'))
    return typeof password === 'string' && password ? { password, port: Number(port) || null } : null
  } catch {
    return null
  }
}
