// Old syntax on purpose: an old Node must be able to read this file far enough to say that it is too old.

const LEAST = [20, 19]

/** Ends the process with a clear message when this Node is too old for Switchboard. */
export function ensureNode() {
  const found = process.versions.node.split('.').map(Number)
  if (found[0] > LEAST[0] || (found[0] === LEAST[0] && found[1] >= LEAST[1])) return
  console.error(`Switchboard needs Node.js ${LEAST.join('.')} or later; this is ${process.versions.node}.`)
  console.error('Install a current version from https://nodejs.org, then try again.')
  process.exit(1)
}
