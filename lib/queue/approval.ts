import type { Db } from '#lib/db/connect'
import { APPROVAL_VALIDITY } from '#lib/model/settings'
import { ROLES } from '#lib/wire/caller'
import type { Interrupt } from '#lib/wire/interrupt'
import type { Todo } from '#lib/wire/todo'
import { interruptColumns, interruptOf } from './interrupt-row'
import { literals } from './move'
import { recentSettings, type Settings } from './settings'

/** How long an approval is good for, by its risk. */
type Seconds = Record<Interrupt['risk'], number>

const RISKS = Object.keys(APPROVAL_VALIDITY) as Interrupt['risk'][]

/** The validity in force for each risk. */
export const approvalSeconds = (settings: Settings): Seconds =>
  Object.fromEntries(RISKS.map((risk) => [risk, settings[APPROVAL_VALIDITY[risk]].value])) as Seconds

const ANSWERING = literals(ROLES.slice(ROLES.indexOf('responder')))

// Who accepted must still be somebody who may: a person with a role that answers, or an endpoint in force with the scope.
const STILL_MAY = `(
    EXISTS (SELECT FROM people p WHERE q.answered_by = 'user:' || p.id AND p.role IN (${ANSWERING}))
    OR EXISTS (SELECT FROM endpoints n WHERE q.answered_by = 'client:' || n.name AND n.revoked_at IS NULL
      AND (n.expires_at IS NULL OR n.expires_at > now()) AND 'answer' = ANY(n.scopes)
      AND (n.queues IS NULL OR h.queue = ANY(n.queues))))`

const IN_TIME = `q.answered_at > now() - make_interval(secs => CASE q.risk
    ${RISKS.map((risk) => `WHEN '${risk}' THEN h.${risk}`).join(' ')} END)`

// An effect begun again under another approval, or under none, lets go of this one, though it was done under it perhaps.
const UNUSED = `NOT EXISTS (SELECT FROM todo_events u WHERE u.todo_id = q.todo_id AND u.verb = 'effect_begun'
      AND u.data ->> 'interrupt_id' = q.id AND u.data ->> 'key' <> h.key)`

/** SQL: whether the approval that the declared effect `h` names covers it (domain.md, Effects). An answer never changes, so any snapshot may tell. */
export const APPROVED = `EXISTS (SELECT FROM interrupts q
    WHERE q.id = h.interrupt_id AND q.todo_id = h.id AND q.kind = 'approval' AND q.status = 'answered'
      AND q.action = 'accept' AND q.proposal ->> 'arguments_hash' = h.arguments_hash AND ${IN_TIME} AND ${STILL_MAY} AND ${UNUSED})`

/** What names an approval, and the todo it is for. */
export interface Naming {
  todo: Todo
  declaration: { key: string; interrupt_id?: string | undefined; arguments_hash?: string | undefined }
}

/** Why an approval doesn't cover an effect: in a word for programs, in a sentence for people. */
export interface Mismatch {
  mismatch:
    | 'unknown'
    | 'other_kind'
    | 'not_answered'
    | 'declined'
    | 'other_arguments'
    | 'too_old'
    | 'approver_gone'
    | 'used'
  detail: string
}

/** Why an approval doesn't cover an effect; null when it does. */
export async function whyNotApproved(db: Db, { todo, declaration }: Naming): Promise<Mismatch | null> {
  const { low, medium, high, critical } = approvalSeconds(await recentSettings(db))
  const [row] = await db.query({
    name: 'why_not_approved',
    text: `SELECT ${interruptColumns('q')}, ${IN_TIME} AS in_time, ${STILL_MAY} AS still_may, ${UNUSED} AS unused
      FROM (SELECT $3::text AS queue, $8::text AS key, $4::bigint AS low, $5::bigint AS medium, $6::bigint AS high, $7::bigint AS critical) h
      JOIN interrupts q ON q.id = $1 AND q.todo_id = $2`,
    values: [declaration.interrupt_id, todo.id, todo.queue, low, medium, high, critical, declaration.key],
  })
  if (!row) return { mismatch: 'unknown', detail: 'There is no such approval of this todo' }
  const { kind, status, action, proposal } = interruptOf(row)
  if (kind !== 'approval')
    return { mismatch: 'other_kind', detail: `The question it names is not an approval but ${kind}` }
  if (status !== 'answered') return { mismatch: 'not_answered', detail: `The approval is ${status}` }
  if (action !== 'accept') return { mismatch: 'declined', detail: 'The approval was declined' }
  if (proposal?.arguments_hash !== declaration.arguments_hash)
    return { mismatch: 'other_arguments', detail: 'Other arguments were approved' }
  if (!row.in_time) return { mismatch: 'too_old', detail: 'The approval is older than its risk allows' }
  if (!row.still_may) return { mismatch: 'approver_gone', detail: 'Who approved may no longer do so' }
  return row.unused ? null : USED
}

/** Why an approval that covers another effect already doesn't cover this one. */
export const USED: Mismatch = { mismatch: 'used', detail: 'The approval was used by another effect' }
