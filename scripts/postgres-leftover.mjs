import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from './problem.mjs'
import { describe, endProcess, identify, isAlive } from './processes.mjs'

/** Marks a server of ours on its own command line with who started it: PostgreSQL takes any setting with a dot. One
 * fact, written in the moment that the server begins and gone with it.
 * @param {import('./processes.mjs').Identity} owner */
export const ownerSetting = (owner) => `switchboard.owner=${owner.pid}:${owner.mark}`

/** What a running server wrote about itself: its pid, its port and whether it takes connections yet; null without one.
 * @param {string} folder */
export function readPostmaster(folder) {
  try {
    const lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' }
  } catch {
    return null
  }
}

/** Ends a server that a start of ours left behind when it was killed. A server that somebody still uses, or that we did
 * not start, is refused instead.
 * @param {string} folder */
export async function endLeftover(folder) {
  const pid = readPostmaster(folder)?.pid
  if (!pid) return
  const found = describe(pid)
  if (!found || !/^(postgres|postmaster)$/.test(found.program)) return disownLock(folder)
  refuseOthers({ folder, pid, command: found.command })
  const identity = identify(pid)
  if (identity) await stopServer(identity, 4000)
}

/** PostgreSQL refuses to start while the pid in its lock file exists, be it a zombie's (some containers never clear
 * those away) or a stranger's by now. It ignores its own parent's pid, which is ours. The file itself must stay: by it
 * PostgreSQL also finds parts of a killed server that still run.
 * @param {string} folder */
function disownLock(folder) {
  const path = join(folder, 'postmaster.pid')
  const [, ...rest] = readFileSync(path, 'utf8').split('\n')
  writeFileSync(path, [process.pid, ...rest].join('\n'))
}

/** Ends a server: fast at first, which cuts connections and writes everything out; then at once, which the next start
 * recovers from.
 * @param {import('./processes.mjs').Identity} postmaster @param {number} timeoutMs */
export const stopServer = (postmaster, timeoutMs) =>
  endProcess(postmaster, [
    ['SIGINT', timeoutMs],
    ['SIGQUIT', 300],
    ['SIGKILL', 1000],
  ])

/** @param {{ folder: string, pid: number, command: string }} server */
function refuseOthers({ folder, pid, command }) {
  const [, ownerPid, mark] = /switchboard\.owner=(\d+):(\w+)/.exec(command) ?? []
  const owner = ownerPid && mark ? { pid: Number(ownerPid), mark } : null
  if (owner && command.includes(folder) && !isAlive(owner)) return
  const who = owner ? `by the process ${owner.pid}` : `by the PostgreSQL server with process id ${pid}`
  throw new Problem(`The database in ${folder} is in use ${who}. Stop it first; two servers would destroy the data.`)
}
