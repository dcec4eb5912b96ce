import { constants } from 'node:os'
import { Problem } from './problem.mjs'

/** @typedef {{ signal: AbortSignal, requested: Promise<void>, exitCode: () => number }} StopRequest */

/** Listens for Ctrl-C, SIGTERM and a terminal that closes. `signal` breaks off what is under way, `requested` waits,
 * `exitCode` is what a program ended by that signal exits with.
 * @returns {StopRequest} */
export function stopRequest() {
  const controller = new AbortController()
  let exitCode = 0
  const requested = new Promise((/** @type {(nothing: void) => void} */ settle) => {
    for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
      // npm hands on a signal that the terminal has already sent us: a second one means nothing.
      process.on(name, () => {
        exitCode ||= 128 + constants.signals[name]
        controller.abort(new Problem('Stopped.'))
        settle()
      })
    }
  })
  return { signal: controller.signal, requested, exitCode: () => exitCode }
}
