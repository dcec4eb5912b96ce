import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './instance.mjs'
import { Problem } from './problem.mjs'

/** @typedef {{ version?: string, integrity?: string, optional?: boolean, dev?: boolean, peer?: boolean, link?: boolean }} Package */
/** @typedef {Record<string, Package>} Packages */

/** Whether node_modules holds what package-lock.json asks for. npm itself writes down what it has installed, as the last
 * thing it does, so an installation by hand counts and one that was interrupted does not.
 * @param {{ withDev: boolean }} options */
export function isInstalled({ withDev }) {
  const wanted = readPackages('package-lock.json')
  if (!wanted) {
    throw new Problem('package-lock.json is missing or damaged. Bring it back: git checkout -- package-lock.json')
  }
  const installed = readPackages('node_modules/.package-lock.json')
  if (!installed) return false
  return Object.entries(wanted).every(([path, { version, integrity, optional, dev, peer }]) => {
    const found = installed[path]
    if (path === '' || (!found && (optional || (dev && !withDev)))) return true
    if (!found && peer && !withDev) return true
    return found?.version === version && found?.integrity === integrity && existsSync(join(ROOT, path))
  })
}

/** @param {string} path @returns {Packages | null} */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(join(ROOT, path), 'utf8')).packages ?? null
  } catch {
    return null
  }
}
