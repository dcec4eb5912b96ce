import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './instance.mjs'
import { testFolder } from './test-folder.mjs'

/** What a developer's own surroundings may hold and no test may see: least of all their database. */
const PRIVATE = ['DATABASE_URL', 'NODE_ENV', 'NODE_OPTIONS']
const KEPT = ['SWITCHBOARD_PROVE', 'SWITCHBOARD_BROWSER']

let wasInterrupted = false
/** @type {import('node:child_process').ChildProcess | null} */
let current = null

for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(name, () => {
    wasInterrupted = true
    // Ctrl-C has reached the child by itself; a second one would cut its clearing up short.
    if (name !== 'SIGINT') current?.kill(name)
  })
}

/** Whether somebody asked us to stop. */
export const interrupted = () => wasInterrupted

/** Runs a program of an installed package in the foreground and returns its exit code, null when a signal ended it.
 * @param {string} script within node_modules @param {string[]} flags @param {Record<string, string | undefined>} [extra]
 * @returns {Promise<number | null>} */
export function runProgram(script, flags, extra = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'node_modules', script), ...flags], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...surroundings(), TMPDIR: testFolder(), ...extra },
  })
  current = child
  return new Promise((settle) => {
    child.once('error', () => settle(null))
    child.once('close', (code) => settle(code))
  })
}

function surroundings() {
  const entries = Object.entries(process.env).filter(
    ([name]) => !PRIVATE.includes(name) && (!name.startsWith('SWITCHBOARD_') || KEPT.includes(name)),
  )
  return Object.fromEntries(entries)
}
