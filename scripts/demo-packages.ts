import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** One installed copy of a package; the same name and version may be installed in several places. */
export interface InstalledPackage {
  name: string
  version: string
  /** Its folder, seen from the root, with slashes. */
  path: string
}

/** Every package under the root's `node_modules`, scoped and nested ones too, as they lie on the disk. */
export function findPackages(root: string): InstalledPackage[] {
  return packagesIn(join(root, 'node_modules')).map(({ folder, name, version }) => ({
    name,
    version,
    path: relative(root, folder).split(sep).join('/'),
  }))
}

interface Found {
  folder: string
  name: string
  version: string
}

function packagesIn(modules: string): Found[] {
  return foldersIn(modules).flatMap((folder) => [...packageAt(folder), ...packagesIn(join(folder, 'node_modules'))])
}

function foldersIn(modules: string): string[] {
  return subfolders(modules).flatMap((name) => {
    const folder = join(modules, name)
    return name.startsWith('@') ? subfolders(folder).map((scoped) => join(folder, scoped)) : [folder]
  })
}

// Symbolic links (workspaces, .bin) lead to what is not installed here.
function subfolders(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
}

function packageAt(folder: string): Found[] {
  const { name, version } = readManifest(folder) ?? {}
  return typeof name === 'string' && typeof version === 'string' ? [{ folder, name, version }] : []
}

/** A package's manifest, or null when there is none that can be read. */
export function readManifest(folder: string): Record<string, unknown> | null {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return manifest !== null && typeof manifest === 'object' ? { ...manifest } : null
  } catch {
    return null
  }
}
