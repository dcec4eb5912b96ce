import { isInstalled } from './installed.mjs'
import { ensureInstalled } from './prepare.mjs'
import { Problem } from './problem.mjs'

/** Runs the demo, which is TypeScript as all that it shares with Switchboard, and ends the process.
 * @param {string[]} argv */
export async function launchDemo(argv) {
  try {
    if (!isInstalled({ withDev: true })) await ensureInstalled()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
  const { register } = await import('tsx/esm/api')
  register()
  const { demo } = await import('./demo.ts')
  process.exit(await demo(argv))
}
