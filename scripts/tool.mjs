import { spawn } from 'node:child_process'
import { ROOT } from './instance.mjs'
import { Problem } from './problem.mjs'

const KEPT_LINES = 40

/** Runs a program to its end in the repository's root, quietly: what it said is shown only when it fails.
 * @param {string[]} command the program and its arguments
 * @param {{ failure: string, env?: NodeJS.ProcessEnv, signal?: AbortSignal, tell?: (line: string) => void }} options
 * @returns {Promise<void>} */
export async function runTool(command, { failure, env = {}, signal, tell }) {
  const { code, said } = await run(command, { env: { ...process.env, ...env }, signal, tell })
  if (signal?.aborted) throw signal.reason
  if (code !== 0) throw new ToolFailed(failure, { code, said })
}

/** A program that failed, with its exit code and the end of what it said. */
export class ToolFailed extends Problem {
  /** @param {string} failure @param {{ code: number | null, said: string }} result */
  constructor(failure, { code, said }) {
    super(said ? `${failure}\n\n${said}` : `${failure} (exit code ${code})`)
    this.code = code
    this.said = said
  }
}

/** @param {string[]} command
 * @param {{ env: NodeJS.ProcessEnv, signal?: AbortSignal, tell?: (line: string) => void }} options
 * @returns {Promise<{ code: number | null, said: string }>} */
function run([program = '', ...args], { env, signal, tell }) {
  return new Promise((settle) => {
    // In a group of its own, so that what it starts in turn can be ended with it.
    const child = spawn(program, args, { cwd: ROOT, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    /** @type {string[]} */
    let lines = []
    const hear = (/** @type {string} */ chunk) => {
      const heard = chunk.split('\n').filter((line) => line.trim())
      lines = [...lines, ...heard].slice(-KEPT_LINES)
      const last = heard.at(-1)
      if (last) tell?.(last.trim())
    }
    const end = () => child.pid && process.kill(-child.pid, 'SIGTERM')
    signal?.addEventListener('abort', end)
    child.stdout.setEncoding('utf8').on('data', hear)
    child.stderr.setEncoding('utf8').on('data', hear)
    child.on('error', (error) => settle({ code: null, said: error.message }))
    child.on('close', (code) => {
      signal?.removeEventListener('abort', end)
      settle({ code, said: lines.join('\n') })
    })
  })
}
