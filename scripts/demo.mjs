import { ensureNode } from './node-version.mjs'

ensureNode()
import('./demo-launch.mjs').then(({ launchDemo }) => launchDemo(process.argv.slice(2)))
