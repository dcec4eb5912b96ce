import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** @typedef {{ pid: number, mark: string }} Identity One run of one process: a pid alone may be used again. */

const hash = (/** @type {string} */ text) => createHash('sha256').update(text).digest('hex').slice(0, 12)

const readProc = (/** @type {string} */ path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const ps = (/** @type {number} */ pid, /** @type {string} */ column) =>
  spawnSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() ?? ''

/** The live process with this pid as something that can be recognised later, or null when there is none. A zombie is
 * none: it has ended and only waits for its parent to notice.
 * @param {number} pid @returns {Identity | null} */
export function identify(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return null
  const started = process.platform === 'linux' ? linuxStart(pid) : ps(pid, 'lstart')
  return started ? { pid, mark: hash(started) } : null
}

function linuxStart(/** @type {number} */ pid) {
  const stat = readProc(`/proc/${pid}/stat`)
  // The command's name stands in brackets and may itself hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (!stat || fields[0] === 'Z' || fields[0] === 'X') return ''
  return `${readProc('/proc/sys/kernel/random/boot_id').trim()} ${fields[19]}`
}

/** Whether this very run of the process is still there.
 * @param {Identity | null | undefined} identity */
export function isAlive(identity) {
  return Boolean(identity) && identify(Number(identity?.pid))?.mark === identity?.mark
}

/** The program and the whole command line of a live process, or null when there is none.
 * @param {number} pid @returns {{ program: string, command: string } | null} */
export function describe(pid) {
  if (!identify(pid)) return null
  if (process.platform !== 'linux') return { program: basename(ps(pid, 'comm')), command: ps(pid, 'args') }
  const args = readProc(`/proc/${pid}/cmdline`).split('\0').slice(0, -1)
  return { program: basename(args[0] ?? ''), command: args.join(' ') }
}

/** Waits until the process has ended; false when it is still there after so many milliseconds.
 * @param {Identity} identity @param {number} timeoutMs */
export async function hasEnded(identity, timeoutMs) {
  const deadline = Date.now() + timeoutMs
  while (isAlive(identity)) {
    if (Date.now() > deadline) return false
    await sleep(20)
  }
  return true
}

/** Sends a signal to a pid, or to a whole group for a negative one; one that is gone already is no error,
 * nor one whose pid is somebody else's by now.
 * @param {number} pid @param {NodeJS.Signals} signal */
export function signal(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
  }
}

/** Ends one run of a process: the given signals in turn, each with its own milliseconds to work.
 * @param {Identity} identity @param {[NodeJS.Signals, number][]} signals */
export async function endProcess(identity, signals) {
  for (const [name, graceMs] of signals) {
    if (!isAlive(identity)) return true
    signal(identity.pid, name)
    if (await hasEnded(identity, graceMs)) return true
  }
  return !isAlive(identity)
}
