import type { Db } from '#lib/db/connect'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { HELD_BY, HELD_INPUT, moveHeld } from './held'
import type { Plan } from './move'
import type { Held } from './why-not'

const RELEASE: Plan = {
  transition: 'release',
  input: { ...HELD_INPUT, checkpoint: 'jsonb', reason: 'text' },
  pick: { named: HELD_BY },
  set: { available_at: 'now()', checkpoint: 'coalesce(p.in_checkpoint, t.checkpoint)' },
  reason: 'm.in_reason',
}

/** What a worker leaves when it lets go. */
export interface Letting {
  checkpoint?: unknown
  reason?: string | undefined
}

/** Gives the todo back, claimable at once and at no cost. Refuses as complete does. */
export function release(db: Db, held: Held, caller: EndpointCaller, letting: Letting = {}): Promise<Todo> {
  return moveHeld(db, RELEASE, caller, { held, input: letting, outcome: 'released' })
}
