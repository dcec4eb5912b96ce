import { ensureNode } from './node-version.mjs'

ensureNode()
import('./launch.mjs').then(({ launch, DEVELOPMENT }) => launch(DEVELOPMENT, process.argv.slice(2)))
