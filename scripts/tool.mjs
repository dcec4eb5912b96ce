import { spawn } from 'node:child_process'
import { ROOT } from './instance.mjs'
import { Problem } from './problem.mjs'
import { identify, signal as send } from './processes.mjs'

/** @typedef {{ program: string, args: string[], env: Record<string, string | undefined> }} Command */
/**
 * @typedef {object} Watching what may be done with a program while it runs
 * @property {AbortSignal} [signal] ends it and all it started
 * @property {(line: string) => void} [tell] hears what it says
 * @property {import('./claim.mjs').Claim['record']} [record] writes down that it runs, for a start after a kill -9
 */

const KEPT_LINES = 40

/** Runs a program to its end in the repository's root, quietly: what it said is shown only when it fails.
 * @param {string[]} command the program and its arguments
 * @param {Watching & { failure: string, env?: Record<string, string | undefined> }} options @returns {Promise<void>} */
export async function runTool([program = '', ...args], { failure, env, ...watching }) {
  watching.signal?.throwIfAborted()
  const { code, said } = await run({ program, args, env: { ...process.env, ...env } }, watching)
  watching.signal?.throwIfAborted()
  if (code !== 0) throw new Problem(`${failure}${said ? `\n\n${said}` : ` (exit code ${code})`}`)
}

/** @param {Command} command @param {Watching} watching @returns {Promise<{ code: number | null, said: string }>} */
function run({ program, args, env }, { signal, tell, record }) {
  // In a group of its own, so that what it starts in turn can be ended with it.
  const child = spawn(program, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const pid = child.pid ?? 0
  const end = () => pid && send(-pid, 'SIGTERM')
  /** @type {string[]} */
  let lines = []
  const hear = (/** @type {string} */ chunk) => {
    const heard = chunk.split('\n').filter((line) => line.trim())
    lines = [...lines, ...heard].slice(-KEPT_LINES)
    const last = heard.at(-1)
    if (last) tell?.(last.trim())
  }
  record?.('tool', identify(pid))
  signal?.addEventListener('abort', end)
  child.stdout.setEncoding('utf8').on('data', hear)
  child.stderr.setEncoding('utf8').on('data', hear)
  return new Promise((settle) => {
    child.on('error', (error) => settle({ code: null, said: error.message }))
    child.on('close', (code) => {
      record?.('tool', null)
      signal?.removeEventListener('abort', end)
      settle({ code, said: lines.join('\n') })
    })
  })
}
