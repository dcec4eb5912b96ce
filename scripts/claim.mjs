import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { homeFolder, publishInstance, readInstance, withdrawInstance, writeWhole } from './instance.mjs'
import { Problem } from './problem.mjs'
import { endProcess, hasEnded, identify, isAlive, signal } from './processes.mjs'

/** @typedef {import('./processes.mjs').Identity} Identity */
/** @typedef {Pick<import('./instance.mjs').Instance, 'url' | 'worker_url' | 'database_url' | 'started_at'>} Address */
/** @typedef {Identity & { children: Record<string, Identity> }} Supervisor who has the home folder, and what it started */
/**
 * @typedef {object} Claim
 * @property {(name: string, child: Identity | null) => void} record writes down which process runs under a name, so that a
 *   later start can end it should we be killed
 * @property {(address: Address) => void} publish tells scripts on this machine where everything is, until the release
 * @property {() => void} release
 */

// A database left behind is ended by the next start of it, which knows how.
const DATABASE = 'database'
const GRACE_MS = 4000

/** Makes us the one supervisor of the home folder; refused while another lives. What a killed one left running is ended
 * first.
 * @returns {Promise<Claim>} */
export async function claimHome() {
  const folder = homeFolder()
  const file = join(folder, 'supervisor.json')
  const us = identify(process.pid)
  if (!us) throw new Problem('Cannot find out when this process began; is /proc mounted?')
  makeHome(folder)
  const left = take(file, us)
  await Promise.all(Object.entries(left).map(([name, child]) => (name === DATABASE ? null : endOrphan(child))))
  withdrawInstance()
  /** @type {Record<string, Identity>} */
  const children = {}
  /** @type {Address | null} */
  let address = null
  const save = () => {
    writeWhole(file, { ...us, children })
    const processes = Object.fromEntries(Object.entries(children).map(([name, { pid }]) => [name, pid]))
    if (address) publishInstance({ ...address, ...us, processes })
  }
  save()
  return {
    record: (name, child) => {
      if (child) children[name] = child
      else delete children[name]
      save()
    },
    publish: (found) => {
      address = found
      save()
    },
    release: () => {
      withdrawInstance()
      rmSync(file, { force: true })
    },
  }
}

/** The supervisor that has this home folder now, or null.
 * @returns {Supervisor | null} */
export function readSupervisor() {
  const found = read(join(homeFolder(), 'supervisor.json'))
  return isAlive(found) ? found : null
}

function makeHome(/** @type {string} */ folder) {
  try {
    makeFolder(folder)
    // A folder that another user began may be readable and yet of no use.
    writeFileSync(join(folder, `.try-${process.pid}`), '')
    rmSync(join(folder, `.try-${process.pid}`))
  } catch (error) {
    const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error)
    const why = WHY_NOT[code] ?? code
    throw new Problem(
      `Cannot keep data and logs in ${folder}: ${why}.\nSet SWITCHBOARD_HOME to a folder that you may write in, or start as the user it belongs to.`,
    )
  }
}

/** @type {Record<string, string>} */
const WHY_NOT = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOENT: 'no folder can be made there',
  ENOTDIR: 'a file is in its way',
  EEXIST: 'a file is in its way',
  EROFS: 'that disk can only be read',
  ENOSPC: 'that disk is full',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its links lead in a ring',
}

// Node's own recursive mkdir never ends below /proc, where no folder can be made though the one above is there.
function makeFolder(/** @type {string} */ folder) {
  if (isFolder(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another start may have made it meanwhile.
    if (!isFolder(folder)) throw error
  }
}

const isFolder = (/** @type {string} */ path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false

/** A link is made whole or not at all, so of two who start at once one wins. Returns what a dead one left running.
 * @param {string} file @param {Identity} us @returns {Record<string, Identity>} */
function take(file, us) {
  const draft = `${file}.${process.pid}`
  try {
    for (let tries = 0; tries < 5; tries++) {
      const other = read(file)
      if (isAlive(other)) throw new Problem(inUse(other?.pid))
      const children = other?.children ?? {}
      writeWhole(draft, { ...us, children })
      if (existsSync(file)) moveAway(file)
      if (link(draft, file)) return children
    }
    throw new Problem(inUse(read(file)?.pid))
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Two may find the same dead claim; should the second move away what the first has put there since, it puts it back.
 * @param {string} file */
function moveAway(file) {
  const aside = `${file}.dead-${process.pid}`
  try {
    renameSync(file, aside)
    if (isAlive(read(aside))) link(aside, file)
    rmSync(aside, { force: true })
  } catch {
    // The other one was quicker; the next look finds its claim.
  }
}

function link(/** @type {string} */ from, /** @type {string} */ to) {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code === 'EEXIST') return false
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'ENOSYS') return copyNew(from, to)
    throw error
  }
}

/** For file systems without hard links. */
function copyNew(/** @type {string} */ from, /** @type {string} */ to) {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false
    throw error
  }
}

function read(/** @type {string} */ file) {
  try {
    return /** @type {Supervisor} */ (JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

function inUse(/** @type {number | undefined} */ pid) {
  const url = readInstance()?.url
  const where = url ? ` at ${url}` : ''
  return `Switchboard is already running from this folder${where} (process ${pid}). Stop it first (kill ${pid}), or set SWITCHBOARD_HOME to run a second one with data of its own.`
}

/** A child leads a group of its own, so what it started in turn goes with it.
 * @param {Identity} orphan */
async function endOrphan(orphan) {
  if (!isAlive(orphan)) return
  await endProcess(orphan, [['SIGTERM', GRACE_MS]])
  signal(-orphan.pid, 'SIGKILL')
  await hasEnded(orphan, 1000)
}
