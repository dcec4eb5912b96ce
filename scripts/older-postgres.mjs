import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './instance.mjs'

const DEBIAN = '/usr/lib/postgresql'
const OLDEST = 15

/** The oldest PostgreSQL installed on a Debian system that Switchboard still supports; null without one. The tests of
 * the database run on it once more, so that nothing newer slips in.
 * @returns {{ major: string, bin: string } | null} */
export function olderPostgres() {
  if (!existsSync(DEBIAN)) return null
  const [major] = readdirSync(DEBIAN)
    .filter((name) => Number(name) >= OLDEST && existsSync(join(DEBIAN, name, 'bin', 'initdb')))
    .sort((one, other) => Number(one) - Number(other))
  return major ? { major, bin: join(DEBIAN, major, 'bin') } : null
}

/** The test files that use a database, by their paths from the root.
 * @returns {string[]} */
export function databaseTests() {
  return readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join('test', path))
    .filter((path) => isOfDatabase(readFileSync(join(ROOT, path), 'utf8')))
}

// How processes end is the same on every server, and takes longest to see.
const isOfDatabase = (/** @type {string} */ text) =>
  /support\/(?:empty-)?database'/.test(text) && !/'node:child_process'|support\/crash'/.test(text)
