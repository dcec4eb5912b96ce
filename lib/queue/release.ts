import type { Db } from '#lib/db/connect'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { HELD_BY, HELD_INPUT } from './held'
import { moveHeld } from './holder-call'
import type { Plan } from './plan'
import type { Usage } from './usage'
import type { Held } from './why-not'

const RELEASE: Plan = {
  transition: 'release',
  input: { ...HELD_INPUT, checkpoint: 'jsonb', reason: 'text', usage: 'jsonb' },
  pick: { named: HELD_BY },
  set: { available_at: 'now()', checkpoint: 'coalesce(p.in_checkpoint, t.checkpoint)' },
  reason: 'm.in_reason',
}

/** What a worker leaves when it lets go. */
export interface Letting {
  checkpoint?: unknown
  reason?: string | undefined
  usage?: Usage | undefined
}

/** Gives the todo back, claimable at once and at no cost; over its budget it fails instead. Refuses as complete does. */
export function release(db: Db, held: Held, caller: EndpointCaller, letting: Letting = {}): Promise<Todo> {
  const { usage, ...input } = letting
  return moveHeld(db, RELEASE, caller, { held, input, outcome: 'released', usage })
}
