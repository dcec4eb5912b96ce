import { readFileSync } from 'node:fs'

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

/** What Vitest wrote with its JSON reporter. A file that broke outside of its tests counts as one that failed.
 * @param {string} file @returns {Count} */
export function readVitest(file) {
  const report = JSON.parse(readFileSync(file, 'utf8'))
  /** @type {{ status: string, assertionResults: { status: string }[] }[]} */
  const files = report.testResults
  const broken = files.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

/** What Playwright wrote with its JSON reporter. A test that passed only when repeated counts as failed.
 * @param {string} file @returns {Count} */
export function readPlaywright(file) {
  const { stats, errors } = JSON.parse(readFileSync(file, 'utf8'))
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky + errors.length, skipped: stats.skipped }
}
