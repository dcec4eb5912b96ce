import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wrongVariables } from '../lib/model/variables.mjs'
import { ensureBrowser } from './browser.mjs'
import { runChecks } from './check.mjs'
import { databaseTests, olderPostgres } from './older-postgres.mjs'
import { ensureBuilt, ensureGenerated, ensureInstalled } from './prepare.mjs'
import { Problem } from './problem.mjs'
import { createProgress, painter, seconds } from './progress.mjs'
import { interrupted, runProgram } from './test-program.mjs'
import { readPlaywright, readVitest } from './test-report.mjs'

/** @typedef {import('./test-report.mjs').Count} Count */
/** @typedef {{ name: string, needs: string[], isNeeded?: () => boolean, run: (reports: string) => Promise<Count> }} Stage */
/** @typedef {{ name: string, count: Count | null, took: number }} Outcome the count is null for a stage that did not run */

const USAGE = `Usage: npm test            everything: checks, tests, build, end-to-end tests
       npm run prove       the same, with races and properties in full numbers
`

/** The stages in their order. One that is no test counts only when it fails: as one failure for each thing that did.
 * @type {Stage[]} */
const STAGES = [
  { name: 'packages', needs: [], run: prepare },
  { name: 'checks', needs: ['packages'], run: check },
  { name: 'tests', needs: ['packages'], run: vitest },
  { name: 'older server', needs: ['packages'], isNeeded: () => olderPostgres() !== null, run: vitestOnOlder },
  { name: 'build', needs: ['packages'], run: build },
  { name: 'plain next', needs: ['build'], run: vitestOnNext },
  { name: 'end to end', needs: ['build'], run: playwright },
]

/** Runs every stage, sums them up, and ends with `N passed, N failed` alone on the last line.
 * @param {string[]} argv @returns {Promise<number>} the exit code */
export async function runTests(argv) {
  if (argv.some((flag) => flag !== '--prove')) {
    process.stderr.write(`Unexpected argument: ${argv.join(' ')}\n\n${USAGE}`)
    return 2
  }
  const wrong = wrongVariables(process.env, 'tests')
  if (wrong.length > 0) {
    process.stderr.write(`${wrong.join('\n')}\n`)
    return 2
  }
  if (argv.includes('--prove')) process.env.SWITCHBOARD_PROVE = '1'
  const reports = mkdtempSync(join(tmpdir(), 'switchboard-reports-'))
  try {
    return sumUp(await runStages(reports))
  } finally {
    rmSync(reports, { recursive: true, force: true })
  }
}

/** @param {string} reports */
async function runStages(reports) {
  /** @type {Outcome[]} */
  const outcomes = []
  const stages = STAGES.filter(({ isNeeded }) => isNeeded?.() ?? true)
  for (const stage of stages) outcomes.push(await runStage(stage, { outcomes, reports }))
  return outcomes
}

/** @param {Stage} stage @param {{ outcomes: Outcome[], reports: string }} so @returns {Promise<Outcome>} */
async function runStage({ name, needs, run }, { outcomes, reports }) {
  const isReady = needs.every((need) => outcomes.some((other) => other.name === need && other.count?.failed === 0))
  if (!isReady || interrupted()) return { name, count: null, took: 0 }
  process.stdout.write(`\n${painter(process.stdout)('bold', name)}\n\n`)
  const began = performance.now()
  const count = await run(reports).catch(explain)
  return { name, count, took: performance.now() - began }
}

/** @param {unknown} error @returns {Count} */
function explain(error) {
  process.stdout.write(`${error instanceof Problem ? error.message : /** @type {Error} */ (error).stack}\n`)
  return broken(1)
}

const broken = (/** @type {number} */ failed) => ({ passed: 0, failed, skipped: 0 })

async function prepare() {
  const progress = createProgress()
  await ensureInstalled({ progress })
  await ensureGenerated({ progress })
  return broken(0)
}

async function check() {
  return broken((await runChecks()).length)
}

async function build() {
  await ensureBuilt()
  return broken(0)
}

/** @param {string} reports */
function vitest(reports) {
  return runVitest(join(reports, 'vitest.json'), [])
}

/** @param {string} reports */
async function vitestOnOlder(reports) {
  const { major, bin } = /** @type {{ major: string, bin: string }} */ (olderPostgres())
  process.stdout.write(`The tests of the database once more, on PostgreSQL ${major}\n`)
  return runVitest(join(reports, 'older.json'), databaseTests(), { TEST_POSTGRES: bin })
}

// What the contract promises of every operation, whichever server stands before it.
const CONTRACT = [
  'todos',
  'bulk',
  'errors',
  'bodies',
  'who',
  'work',
  'continuations',
  'repeats',
  'wait',
  'interrupts',
  'openapi',
  'next-gate',
  'stream-door',
]

/** @param {string} reports */
async function vitestOnNext(reports) {
  process.stdout.write('The contract of the HTTP interface once more, under plain `next start`\n')
  const files = CONTRACT.map((name) => `test/api/${name}.test.ts`)
  return runVitest(join(reports, 'next.json'), files, { SWITCHBOARD_TEST_DOOR: 'next' })
}

/** @param {string} report @param {string[]} files @param {Record<string, string>} [env] */
async function runVitest(report, files, env) {
  const flags = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...files]
  const code = await runProgram('vitest/vitest.mjs', flags, env)
  return agreeing(code, () => readVitest(report))
}

/** @param {string} reports */
async function playwright(reports) {
  const report = join(reports, 'playwright.json')
  const browser = await ensureBrowser()
  const code = await runProgram('playwright/cli.js', ['test', '--reporter=list,json'], {
    SWITCHBOARD_BROWSER: browser,
    PLAYWRIGHT_JSON_OUTPUT_FILE: report,
  })
  return agreeing(code, () => readPlaywright(report))
}

/** A runner that failed without a failed test (or without a report) has failed once all the same.
 * @param {number | null} code @param {() => Count} read @returns {Count} */
function agreeing(code, read) {
  if (code === 0) return read()
  try {
    const count = read()
    return { ...count, failed: Math.max(1, count.failed) }
  } catch {
    return broken(1)
  }
}

/** @param {Outcome[]} outcomes @returns {number} */
function sumUp(outcomes) {
  const paint = painter(process.stdout)
  const lines = outcomes.map(({ name, count, took }) => {
    if (!count) return `  ${paint('yellow', '-')} ${name.padEnd(14)}not run`
    const sign = count.failed === 0 ? paint('green', '✓') : paint('red', '✗')
    return `  ${sign} ${name.padEnd(14)}${describe(count).padEnd(32)}${paint('dim', seconds(took))}`
  })
  const passed = sum(outcomes, 'passed')
  const failed = sum(outcomes, 'failed')
  process.stdout.write(`\n${lines.join('\n')}\n\n${passed} passed, ${failed} failed\n`)
  if (interrupted()) return 130
  return failed === 0 && outcomes.every(({ count }) => count) ? 0 : 1
}

const describe = (/** @type {Count} */ { passed, failed, skipped }) =>
  [passed > 0 && `${passed} passed`, failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`]
    .filter(Boolean)
    .join(', ')

const sum = (/** @type {Outcome[]} */ outcomes, /** @type {'passed' | 'failed'} */ key) =>
  outcomes.reduce((total, { count }) => total + (count?.[key] ?? 0), 0)
