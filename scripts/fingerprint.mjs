import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ROOT } from './instance.mjs'

const STAMP = '.switchboard-made-from'

/** A hash over the contents and names of files and folders of the repository; a missing one counts as such.
 * @param {string[]} paths relative to the root @param {{ except?: string[] }} [options] */
export function fingerprint(paths, { except = [] } = {}) {
  const hash = createHash('sha256')
  const skipped = new Set(except.map((path) => join(ROOT, path)))
  for (const path of paths) add(hash, join(ROOT, path), skipped)
  return hash.digest('hex')
}

function add(
  /** @type {import('node:crypto').Hash} */ hash,
  /** @type {string} */ path,
  /** @type {Set<string>} */ skipped,
) {
  if (skipped.has(path)) return
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) {
    for (const name of readdirSync(path).sort()) add(hash, join(path, name), skipped)
  } else if (found?.isFile()) {
    const content = readFileSync(path)
    hash.update(`${relative(ROOT, path)}\0${content.length}\0`).update(content)
  }
}

/** Whether the folder was made whole from what has this fingerprint. The mark lies in the folder itself, so that it goes
 * with what it speaks of.
 * @param {string} folder relative to the root @param {string} print */
export function isMadeFrom(folder, print) {
  const stamp = join(ROOT, folder, STAMP)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === print
}

/** Makes a folder anew and marks it when that is done; interrupted in between it counts as not made.
 * @param {string} folder relative to the root @param {string} print @param {() => Promise<void>} work */
export async function make(folder, print, work) {
  const stamp = join(ROOT, folder, STAMP)
  rmSync(stamp, { force: true })
  await work()
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, print)
}
