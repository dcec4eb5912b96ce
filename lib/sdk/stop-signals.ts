type Listen = (signal: string, act: () => void) => unknown

const NAMES = ['SIGTERM', 'SIGINT']
const ECHO_MS = 1000

/**
 * Calls `stop` at SIGTERM or Ctrl-C and `hurry` when asked again later than a second (npm passes on a signal that the
 * terminal has sent already). Gives what takes the listeners away again; does nothing where there are no signals.
 */
export function onStopSignal(stop: () => void, hurry: () => void): () => void {
  const { process } = globalThis as { process?: { on?: Listen; off?: Listen } }
  let first: number | undefined
  const hear = () => {
    if (first === undefined) {
      first = performance.now()
      stop()
    } else if (performance.now() - first > ECHO_MS) hurry()
  }
  for (const name of NAMES) process?.on?.(name, hear)
  return () => {
    for (const name of NAMES) process?.off?.(name, hear)
  }
}
