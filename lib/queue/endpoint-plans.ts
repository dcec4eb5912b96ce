import { LIVE } from '#lib/model/states'
import { TRANSITIONS } from '#lib/model/transitions'
import { NOBODY_MAY_CLAIM_ERROR } from './assignee'
import { literals } from './move'
import { PARKS } from './park'
import type { Plan } from './plan'

/** What becomes of the todos of an endpoint that is out of force, in the order in which it does. */
export type EndingName = 'revokeAssigned' | 'revokeClaimed' | 'revokeHeld'

interface Ending extends Omit<Plan, 'pick'> {
  transition: EndingName
  /** SQL: whether it is for `todos t`; `ids` are those endpoints'. */
  isFor(ids: string): string
}

const assigned = (ids: string): string => `t.assignee_endpoint_id = ANY(${ids}::text[])`

// What is assigned to its holder besides fails, and is not put back first.
const owned = (ids: string): string =>
  `t.owner_endpoint_id = ANY(${ids}::text[]) AND t.assignee_endpoint_id IS DISTINCT FROM t.owner_endpoint_id`

/** Nobody else may claim what is assigned to it; what it merely holds goes back, and a question it holds stays open. */
export const ENDINGS: Record<EndingName, Ending> = {
  revokeAssigned: { transition: 'revokeAssigned', isFor: assigned, unfenced: true, error: NOBODY_MAY_CLAIM_ERROR },
  revokeClaimed: { transition: 'revokeClaimed', isFor: owned, unfenced: true, set: { available_at: 'now()' } },
  revokeHeld: { transition: 'revokeHeld', isFor: owned, unfenced: true, ...PARKS },
}

const HOLDING = [...TRANSITIONS.revokeClaimed.from, ...TRANSITIONS.revokeHeld.from]

/** SQL that yields what those endpoints (`ids`) still have, `todos t` as `endpoint_id` and these columns. */
export const theirTodos = (columns: string, ids: string): string => `
  SELECT t.assignee_endpoint_id AS endpoint_id, ${columns} FROM todos t WHERE t.state IN (${literals(LIVE)}) AND ${assigned(ids)}
  UNION ALL
  SELECT t.owner_endpoint_id AS endpoint_id, ${columns} FROM todos t WHERE t.state IN (${literals(HOLDING)}) AND ${owned(ids)}`
