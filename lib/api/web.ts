import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { preparePages } from './pages'
import { runWeb } from './web-process'

/** The folder of package.json, whether this file runs from its own place or out of a bundle. */
function rootFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
}

await runWeb(process.env, (environment) => preparePages({ ...environment, dir: rootFolder() }))
