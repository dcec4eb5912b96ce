import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fingerprint } from './fingerprint.mjs'
import { ROOT } from './instance.mjs'
import { Problem } from './problem.mjs'

/** The folders that a build fills, relative to the root. */
export const PAGES = '.next'
export const PROCESSES = 'dist'

const LOCKED = ['package.json', 'package-lock.json', 'tsconfig.json']
const GENERATED = 'lib/db/generated'

/** What the pages are built from. */
export const pagesPrint = () =>
  fingerprint(
    [
      'app',
      'components',
      'lib',
      'public',
      'prisma/schema.prisma',
      'next.config.ts',
      'postcss.config.mjs',
      'proxy.ts',
      'instrumentation.ts',
      ...LOCKED,
    ],
    {
      except: [GENERATED],
    },
  )

/** What the processes are bundled from. */
export const processesPrint = () =>
  fingerprint(['lib', 'worker', 'prisma', 'scripts', ...LOCKED], { except: [GENERATED] })

/** Bundles web server, worker and migration runner, each into one file that starts faster and in less memory than its
 * parts would. */
export async function bundleProcesses() {
  const { build, stop } = await import('esbuild')
  rmSync(join(ROOT, PROCESSES), { recursive: true, force: true })
  const built = build({
    absWorkingDir: ROOT,
    entryPoints: { web: 'lib/api/web.ts', worker: 'worker/main.ts', migrate: 'prisma/migrate.ts' },
    outdir: PROCESSES,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: externals(),
    sourcemap: true,
    legalComments: 'none',
    logLevel: 'silent',
  })
  try {
    await built
  } catch (error) {
    throw new Problem(`The processes could not be bundled.\n\n${/** @type {Error} */ (error).message}`)
  } finally {
    // Its helper process would live for as long as ours.
    await stop()
  }
}

const externals = () => Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies)
