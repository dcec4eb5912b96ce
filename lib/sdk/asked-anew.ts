import type { Refusal } from '#lib/model/errors'
import type { Interrupt } from '#lib/wire/interrupt'
import type { Prompt } from './prompt'

// How often one approval is asked for anew in the life of its todo: each takes a person, but none may go on for ever.
const MOST = 3

const MARK = /^again (\d) (\S+)$/

/** The approval a question asks for anew, and the how many-th time; null for any other question. */
export function anewOf({ request_id }: Pick<Interrupt, 'request_id'>): { first: string; time: number } | null {
  const [, time, first] = MARK.exec(request_id ?? '') ?? []
  return time && first ? { first, time: Number(time) } : null
}

/** What was said last when this approval was asked for anew; itself where it never was. */
export function latestOf(approval: Interrupt, among: Iterable<Interrupt>): Interrupt {
  const first = anewOf(approval)?.first ?? approval.id
  const later = [...among].filter((one) => anewOf(one)?.first === first)
  return later.reduce((last, one) => (timeOf(one) >= timeOf(last) ? one : last), approval)
}

const timeOf = (interrupt: Interrupt): number => anewOf(interrupt)?.time ?? 0

const STALE: ReadonlySet<unknown> = new Set(['too_old', 'approver_gone', 'used'])

/** Whether a begin was refused since its approval was good once and is no more, so that asking anew may help. */
export const isStale = ({ code, facts }: Refusal): boolean => code === 'approval_mismatch' && STALE.has(facts.mismatch)

/** The same approval asked for once more, with why; null once it has been asked for often enough. */
export function askedAnew(approval: Interrupt, first: Interrupt, why: string): Prompt | null {
  const time = timeOf(approval) + 1
  const { title, message, risk, for: whom, ui, proposal } = first
  if (time > MOST || !proposal) return null
  const notice = `It was approved before, and that no longer counts: ${why}.`
  return {
    key: `again ${time} ${anewOf(approval)?.first ?? approval.id}`,
    kind: 'approval',
    title,
    risk,
    message: message === null ? notice : `${notice}\n\n${message}`.slice(0, MOST_MESSAGE),
    proposal: { action: proposal.action, arguments: proposal.arguments },
    ...(whom !== null && { for: whom }),
    ...(ui !== null && { ui }),
  }
}

const MOST_MESSAGE = 100_000
