import { ensureNode } from './node-version.mjs'

ensureNode()
import('./launch.mjs').then(({ launch, PRODUCTION }) => launch(PRODUCTION, process.argv.slice(2)))
