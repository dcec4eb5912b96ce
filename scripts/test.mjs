import { ensureNode } from './node-version.mjs'

ensureNode()
const { runTests } = await import('./test-run.mjs')
process.exitCode = await runTests(process.argv.slice(2))
