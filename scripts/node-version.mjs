// Old syntax on purpose: an old Node must be able to read this file far enough to say that it is too old.

const LEAST_MAJOR = 20
const LEAST_MINOR = 19

/** Ends the process with a clear message when this Node is too old for Switchboard. */
export function ensureNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > LEAST_MAJOR || (major === LEAST_MAJOR && minor >= LEAST_MINOR)) return
  console.error(`Switchboard needs Node.js ${LEAST_MAJOR}.${LEAST_MINOR} or later; this is ${process.versions.node}.`)
  console.error('Install a current version from https://nodejs.org, then try again.')
  process.exit(1)
}
