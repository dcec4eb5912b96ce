import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { closedAs, type Facts, isLeaseExpired, lostWith } from './demo-facts'
import type { PowerCut } from './demo-power-cut'
import { homeFolder } from './instance.mjs'

const resultSchema = z.object({
  name: z.string(),
  version: z.string(),
  path: z.string(),
  licence: z.string(),
  basis: z.string(),
  answered_by: z.string().nullish(),
  comment: z.string().nullish(),
  shipping: z
    .object({
      allowed: z.boolean(),
      risk: z.string(),
      decided_by: z.string().nullable(),
      comment: z.string().nullable(),
    })
    .optional(),
})

/** How many questions were asked, by how they were waited for. */
export interface Questions {
  parked: number
  held: number
  approvals: number
}

/** A package and its licence, as its todo's result has it. */
export type Reviewed = z.infer<typeof resultSchema>

/** What a run came to; everything but the times and the killed worker is read from the API. */
export interface Report {
  began_at: string
  seconds: number
  packages: number
  licences: { licence: string; packages: number }[]
  decided_by_people: Reviewed[]
  by_manifest_alone: number
  /** Packages whose licence carries duties, with who said whether they may be shipped. */
  approvals: Reviewed[]
  /** Of each sort, how many were asked. */
  questions: Questions
  /** Claims in all, and how many of them were ended by a parked question and continued by a later one. */
  attempts: number
  continuations: number
  killed: { worker: string; pid: number; held: string[] } | null
  /** Every time the reaper took back a lease that had run out: the todo, who had it, and who completed it in the end. */
  lease_expired: { title: string; was: string | null; completed_by: string | null }[]
  discrepancies: string[]
  reviewed: Reviewed[]
}

/** What a report is made from. */
export interface Findings {
  facts: readonly Facts[]
  cut: PowerCut | null
  beganAt: Date
  seconds: number
  discrepancies: string[]
}

/** Puts the facts of a run together. */
export function reportOf({ facts, cut, beganAt, seconds, discrepancies }: Findings): Report {
  const reviewed = facts.flatMap(({ detail }) => resultSchema.safeParse(detail.todo.result).data ?? [])
  return {
    began_at: beganAt.toISOString(),
    seconds: Math.round(seconds * 10) / 10,
    packages: facts.length,
    licences: tally(reviewed.map(({ licence }) => licence)),
    decided_by_people: reviewed.filter(({ basis }) => basis === 'person'),
    by_manifest_alone: reviewed.filter(({ basis }) => basis === 'manifest').length,
    approvals: reviewed.filter(({ shipping }) => shipping),
    questions: questionsOf(facts),
    attempts: facts.reduce((sum, { detail }) => sum + detail.todo.attempts, 0),
    continuations: facts.reduce((sum, { detail }) => sum + closedAs(detail, 'continued'), 0),
    killed: cut && {
      worker: cut.victim.name,
      pid: cut.victim.pid,
      held: lostWith(cut, facts).map(({ detail }) => detail.todo.title),
    },
    lease_expired: facts.flatMap(expiriesOf),
    discrepancies,
    reviewed,
  }
}

function questionsOf(facts: readonly Facts[]): Questions {
  const all = facts.flatMap(({ detail }) => detail.interrupts)
  const asked = all.filter(({ kind }) => kind !== 'approval')
  const parked = asked.filter(({ mode }) => mode === 'park').length
  return { parked, held: asked.length - parked, approvals: all.length - asked.length }
}

function expiriesOf({ detail, events }: Facts): Report['lease_expired'] {
  const last = detail.attempts.find(({ outcome }) => outcome === 'completed')
  return events.filter(isLeaseExpired).map(({ attempt_seq }) => ({
    title: detail.todo.title,
    was: detail.attempts.find(({ seq }) => seq === attempt_seq)?.owner ?? null,
    completed_by: last?.owner ?? null,
  }))
}

function tally(licences: string[]): Report['licences'] {
  const counts = new Map<string, number>()
  for (const licence of licences) counts.set(licence, (counts.get(licence) ?? 0) + 1)
  const rows = [...counts].map(([licence, packages]) => ({ licence, packages }))
  return rows.sort((a, b) => b.packages - a.packages || (a.licence < b.licence ? -1 : 1))
}

/** The report as Markdown, for people. */
function asMarkdown(report: Report): string {
  const { killed, lease_expired, decided_by_people: decided } = report
  return [
    '# Licence review',
    `${report.packages} packages in ${report.seconds} s, begun ${report.began_at}. ${report.by_manifest_alone} of them rest on the manifest alone, without a licence file.`,
    '## Packages by licence',
    table(
      ['Licence', 'Packages'],
      report.licences.map(({ licence, packages }) => [licence, String(packages)]),
    ),
    '## What people decided',
    `${askedWords(report.questions)}. ${report.attempts} attempts in all; ${report.continuations} of them ended with a parked question, which costs nothing.`,
    table(
      ['Package', 'Licence', 'By', 'Comment'],
      decided.map(({ name, version, licence, answered_by, comment }) => [
        `${name} ${version}`,
        licence,
        answered_by ?? '',
        comment ?? '',
      ]),
    ),
    '## What may be shipped',
    report.approvals.length === 0
      ? 'No licence asks for anything before its package is shipped.'
      : table(['Package', 'Licence', 'Risk', 'Allowed', 'By', 'Comment'], report.approvals.map(approvalCells)),
    '## What the killed worker held',
    killed
      ? `${killed.worker} (process ${killed.pid}) was killed with SIGKILL while it held ${killed.held.join(', ')}.`
      : 'No worker was killed.',
    table(
      ['Came back (lease expired)', 'Was held by', 'Completed by'],
      lease_expired.map(({ title, was, completed_by }) => [title, was ?? '', completed_by ?? '']),
    ),
    '## Checked against the API',
    report.discrepancies.length === 0
      ? 'Every package has exactly one completion, none failed, what the killed worker held was completed by others, and every attempt is accounted for.'
      : report.discrepancies.map((line) => `- ${line}`).join('\n'),
  ]
    .join('\n\n')
    .concat('\n')
}

/** How many questions were asked, in words. */
export const askedWords = ({ parked, held, approvals }: Questions): string =>
  `${parked} parked and ${held} held questions, ${approvals} ${approvals === 1 ? 'approval' : 'approvals'}`

const approvalCells = ({ name, version, licence, shipping }: Reviewed): string[] => [
  `${name} ${version}`,
  licence,
  shipping?.risk ?? '',
  shipping?.allowed ? 'yes' : 'no',
  shipping?.decided_by ?? '',
  shipping?.comment ?? '',
]

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')

/** Writes the report as Markdown and JSON into the folder of this machine's data; gives the Markdown's path. */
export function writeReport(report: Report): string {
  mkdirSync(homeFolder(), { recursive: true })
  const path = join(homeFolder(), 'demo-report')
  writeFileSync(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`)
  writeFileSync(`${path}.md`, asMarkdown(report))
  return `${path}.md`
}
