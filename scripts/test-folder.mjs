import { chmodSync, mkdirSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 4 * 1024 ** 3

/** Where tests keep what they may lose, their databases above all: in memory where there is plenty, since every test file
 * makes a database of some hundred files; else where the system has such things.
 * @returns {string} */
export function testFolder() {
  const folder = join(MEMORY, `switchboard-tests-${process.getuid?.() ?? ''}`)
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < ENOUGH_BYTES) return tmpdir()
    mkdirSync(folder, { recursive: true })
    // The database runs as another user when we are root, who must be able to pass through. Refused for another's folder.
    chmodSync(folder, 0o755)
    return folder
  } catch {
    return tmpdir()
  }
}
