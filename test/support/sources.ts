import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A text file of the repository, by its path from the root. */
export interface Source {
  path: string
  text: string
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NOT_OURS =
  /^(node_modules|\.git|\.next|dist|\.switchboard|coverage|test-results|playwright-report|lib\/db\/generated)$/
const BINARY = /\.(png|ico|jpg|gif|webp|woff2?|wasm|gz|mp4)$/

/** Every text file that we wrote, whether committed yet or not; `folders` narrows it down. */
export function sources(folders: string[] = ['']): Source[] {
  return folders
    .flatMap((folder) => walk(join(ROOT, folder)))
    .map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, 'utf8') }))
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (NOT_OURS.test(relative(ROOT, path)) || BINARY.test(entry.name)) return []
    if (entry.isDirectory()) return walk(path)
    return entry.isFile() ? [path] : []
  })
}
