import { spawn } from 'node:child_process'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT } from './instance.mjs'
import { eachLine, readable } from './logs.mjs'
import { identify, signal } from './processes.mjs'

/** @typedef {import('./supervise.mjs').Running} Running */
/** @typedef {{ level: 'warning' | 'error' | 'notice', text: string }} Said */
/** @typedef {(said: Said) => void} Hear */

/** Starts a Node process of ours in a group of its own, so that Ctrl-C reaches us alone and we end things in order. All
 * it says goes to its log, and what a person should see to `hear`: warnings, errors, and `{ notice: text }` or
 * `{ type: 'first_admin', url }` sent by process.send. Its channel to us closes when we die, by which it knows.
 * @param {{ name: string, args: string[], env: Record<string, string | undefined>, log: import('./logs.mjs').Log, hear: Hear }} options
 * @returns {Running} */
export function startChild({ name, args, env, log, hear }) {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const exited = new Promise((/** @type {(exit: import('./supervise.mjs').Exit) => void} */ settle) => {
    child.once('error', () => settle({ code: null, signal: null }))
    child.once('exit', (code, signalName) => settle({ code, signal: signalName }))
  })
  const pid = child.pid ?? 0
  for (const [stream, isStderr] of /** @type {const} */ ([
    [child.stdout, false],
    [child.stderr, true],
  ])) {
    if (!stream) continue
    eachLine(stream, (line) => {
      log.write(`${line}\n`)
      const said = readable(line, { name, isStderr })
      if (said) hear(said)
    })
  }
  child.on('message', (message) => {
    const { notice, type, url } = /** @type {Record<string, unknown>} */ (message ?? {})
    if (typeof notice === 'string') hear({ level: 'notice', text: notice })
    if (type === 'first_admin') hear({ level: 'notice', text: `Open this once to become the first admin\n  ${url}\n` })
  })
  // What it started in turn must not outlive it.
  exited.then(() => pid && signal(-pid, 'SIGKILL'))
  const silent = new Promise((settle) => child.once('close', settle))
  return {
    pid,
    exited,
    stop: async (timeoutMs) => {
      if (!identify(pid)) return
      signal(pid, 'SIGTERM')
      const timer = setTimeout(() => signal(-pid, 'SIGKILL'), timeoutMs)
      await silent
      clearTimeout(timer)
    },
  }
}

/** Waits until the address answers 200 on /readyz; false when the process ends, the time runs out or
 * `signal` breaks it off first.
 * @param {string} url @param {{ exited: Promise<unknown>, timeoutMs: number, signal?: AbortSignal }} options */
export async function answersReady(url, { exited, timeoutMs, signal: broken }) {
  let isOver = false
  exited.then(() => {
    isOver = true
  })
  const deadline = Date.now() + timeoutMs
  while (!isOver && !broken?.aborted && Date.now() < deadline) {
    if (await isReady(url)) return true
    await sleep(40)
  }
  return false
}

/** @param {string} url @returns {Promise<boolean>} */
function isReady(url) {
  return new Promise((settle) => {
    const request = get(`${url}/readyz`, { timeout: 5000, agent: false }, (answer) => {
      answer.resume()
      settle(answer.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => settle(false))
  })
}
