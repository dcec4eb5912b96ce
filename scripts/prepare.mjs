import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProcesses, PAGES, PROCESSES, pagesPrint, processesPrint } from './build.mjs'
import { readSupervisor } from './claim.mjs'
import { fingerprint, isMadeFrom, make } from './fingerprint.mjs'
import { isInstalled } from './installed.mjs'
import { ROOT } from './instance.mjs'
import { Problem } from './problem.mjs'
import { createProgress } from './progress.mjs'
import { runTool } from './tool.mjs'

/** @typedef {import('./tool.mjs').Watching & { progress?: import('./progress.mjs').Progress }} Preparing */

const CLIENT = 'lib/db/generated'
const UP_TO_DATE = 'up to date'

/** Installs the packages that package-lock.json names unless they are there.
 * @param {Preparing & { withDev?: boolean }} [options] `withDev` false is content with what running a built checkout needs */
export async function ensureInstalled({ progress = createProgress(), withDev = true, ...watching } = {}) {
  await progress.step('Packages', async (tell) => {
    if (isInstalled({ withDev })) return tell(UP_TO_DATE)
    tell('installing')
    // NODE_ENV=production would leave out what the build needs.
    await runTool([...npm(), 'ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional'], {
      failure:
        'npm could not install the packages. Without a network, or behind a registry of your own, set npm up first.',
      env: { NODE_ENV: 'development' },
      ...watching,
    })
    tell('installed')
  })
}

/** Generates the database client unless it fits the schema.
 * @param {Preparing} [options] */
export async function ensureGenerated({ progress = createProgress(), ...watching } = {}) {
  await progress.step('Client', async (tell) => {
    const print = fingerprint(['prisma/schema.prisma', 'prisma.config.ts', 'node_modules/prisma/package.json'])
    if (isMadeFrom(CLIENT, print)) return tell(UP_TO_DATE)
    tell('generating')
    await make(CLIENT, print, () =>
      runTool([process.execPath, join(ROOT, 'node_modules/prisma/build/index.js'), 'generate', '--no-hints'], {
        failure: 'Prisma could not generate the database client.',
        env: {
          // Generating needs no engine, but Prisma would download one; any program that exists keeps it from that.
          PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
          CHECKPOINT_DISABLE: '1',
          PRISMA_HIDE_UPDATE_MESSAGE: '1',
        },
        ...watching,
      }),
    )
    tell('generated')
  })
}

/** Builds pages and processes whose sources changed since they were built. Refused while Switchboard runs from this
 * checkout: a running server still loads files of its build.
 * @param {Preparing} [options] */
export async function ensureBuilt({ progress = createProgress(), ...watching } = {}) {
  await progress.step('Build', async (tell) => {
    const pages = pagesPrint()
    const processes = processesPrint()
    const arePagesBuilt = isMadeFrom(PAGES, pages)
    const areProcessesBuilt = isMadeFrom(PROCESSES, processes)
    if (arePagesBuilt && areProcessesBuilt) return tell(UP_TO_DATE)
    refuseWhileRunning()
    if (!areProcessesBuilt) {
      tell('bundling the processes')
      await make(PROCESSES, processes, bundleProcesses)
    }
    if (!arePagesBuilt) {
      tell('building the pages')
      await make(PAGES, pages, () => buildPages(watching))
    }
    tell('built')
  })
}

/** Whether nothing has to be built.
 * @returns {boolean} */
export const isBuilt = () => isMadeFrom(PAGES, pagesPrint()) && isMadeFrom(PROCESSES, processesPrint())

const buildPages = (/** @type {import('./tool.mjs').Watching} */ watching) =>
  runTool([process.execPath, join(ROOT, 'node_modules/next/dist/bin/next'), 'build'], {
    failure: 'Next.js could not build the pages.',
    env: { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    ...watching,
  })

function refuseWhileRunning() {
  const supervisor = readSupervisor()
  if (!supervisor || supervisor.pid === process.pid) return
  throw new Problem(
    `Sources changed, but Switchboard is running from this checkout (process ${supervisor.pid}). Stop it, then try again.`,
  )
}

/** The npm that started us, else the one that PATH finds. */
function npm() {
  const known = process.env.npm_execpath
  return known?.endsWith('npm-cli.js') && existsSync(known) ? [process.execPath, known] : ['npm']
}
