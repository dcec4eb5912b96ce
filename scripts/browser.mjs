import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { Problem } from './problem.mjs'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const NONE = `No browser for the end-to-end tests. Install Chromium (on Debian: apt-get install chromium), or run
npx playwright install chromium, or name one: SWITCHBOARD_BROWSER=/path/to/chromium npm test`

/** The Chromium to test with: the one SWITCHBOARD_BROWSER names, else the system's; null without either.
 * @returns {string | null} */
export function systemBrowser() {
  const named = process.env.SWITCHBOARD_BROWSER
  if (named && !isProgram(named)) throw new Problem(`SWITCHBOARD_BROWSER names no program: ${named}`)
  return named || onPath()
}

/** The same, else Playwright's own, else one that is installed now where that can be done unasked: on Debian, as root.
 * @returns {Promise<string>} */
export async function ensureBrowser() {
  const found = systemBrowser() ?? (await playwrightsOwn())
  if (found) return found
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) throw new Problem(NONE)
  process.stdout.write('Installing Chromium, which the end-to-end tests need\n\n')
  aptGet('update')
  aptGet('install', '--yes', '--no-install-recommends', 'chromium')
  const installed = onPath()
  if (installed && spawnSync(installed, ['--version']).status === 0) return installed
  throw new Problem(NONE)
}

function onPath() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const programs = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)))
  return programs.find(isProgram) ?? null
}

async function playwrightsOwn() {
  const { chromium } = await import('playwright')
  const program = chromium.executablePath()
  return program && isProgram(program) ? program : null
}

function isProgram(/** @type {string} */ path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function aptGet(/** @type {string[]} */ ...flags) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const done = spawnSync('apt-get', ['-qq', ...flags], { env, encoding: 'utf8' })
  if (done.status === 0) return
  const said = done.error?.message ?? (done.stderr || done.stdout).trim().split('\n').slice(-5).join('\n')
  throw new Problem(`apt-get ${flags.join(' ')} failed:\n${said}\n\n${NONE}`)
}
