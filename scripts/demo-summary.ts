import { askedWords, type Report } from './demo-report'
import type { View } from './demo-view'
import { seconds } from './progress.mjs'

/** The report as the terminal shows it at the end. */
export function summaryLines(report: Report, paint: View['paint']): string[] {
  const { licences, decided_by_people: decided, approvals, killed, lease_expired, discrepancies } = report
  const width = Math.max(...licences.map(({ licence }) => licence.length), 10)
  return [
    '',
    `  ${paint('bold', 'Packages by licence')}`,
    ...licences.map(({ licence, packages }) => `  ${licence.padEnd(width)}  ${String(packages).padStart(4)}`),
    '',
    `  ${paint('bold', 'What people decided')}   ${askedWords(report.questions)}`,
    ...decided.map(
      ({ name, version, licence, answered_by }) =>
        `  ${name} ${version}: ${licence}${paint('dim', `  ${answered_by ?? ''}`)}`,
    ),
    '',
    `  ${paint('bold', 'What may be shipped')}   ${approvals.length === 0 ? 'nothing had to be approved' : ''}`.trimEnd(),
    ...approvals.map(
      ({ name, version, licence, shipping }) =>
        `  ${name} ${version} under ${licence}: ${shipping?.allowed ? 'yes' : 'no'}${paint('dim', `  ${shipping?.risk} risk, ${shipping?.decided_by ?? ''}`)}`,
    ),
    '',
    `  ${paint('bold', 'After the power cut')}   ${killed ? `${killed.worker} was killed while it held ${killed.held.join(', ')}` : 'nobody was killed'}`,
    ...lease_expired.map(
      ({ title, was, completed_by }) =>
        `  ${title}: lease of ${was ?? '?'} expired, completed by ${completed_by ?? 'nobody'}`,
    ),
    '',
    ...(discrepancies.length === 0
      ? [
          `  ${paint('green', '✓')} ${report.packages} packages, each completed exactly once, in ${seconds(report.seconds * 1000)}`,
          `    ${report.attempts} attempts, ${report.continuations} of them continued after a parked question`,
        ]
      : discrepancies.map((line) => `  ${paint('red', '✗')} ${line}`)),
  ]
}
