import type { Db } from '#lib/db/connect'
import type { ErrorCode } from '#lib/model/errors'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { firstMentions, HELD_BY, HELD_INPUT, heldRow, moveHeld } from './held'
import { move, type Plan } from './move'
import { type Held, repeated, whyNotHeld } from './why-not'

const COMPLETE: Plan = {
  transition: 'complete',
  input: { ...HELD_INPUT, result: 'jsonb' },
  pick: { named: HELD_BY },
  set: { result: 'p.in_result', error: 'NULL' },
}

/** Ends the todo well; the result replaces whatever stood there. Refuses with not_found, todo_terminal, lease_lost, invalid_state. */
export function complete(db: Db, held: Held, caller: EndpointCaller, result: unknown): Promise<Todo> {
  return moveHeld(db, COMPLETE, caller, { held, input: { result }, outcome: 'completed' })
}

/** One of a batch: its lease and result. */
export type Completion = Held & { result?: unknown }

/** What became of one of a batch. */
export interface BatchResult {
  id: string
  ok: boolean
  code?: ErrorCode
}

/** Completes many in one statement, each by its own lease; one that is lost doesn't touch the others. Answers in order. */
export async function completeMany(db: Db, completions: Completion[], caller: EndpointCaller): Promise<BatchResult[]> {
  const rows = firstMentions(completions).map(({ result, ...held }) => heldRow(held, { result }))
  const moved = await move(db, COMPLETE, rows)
  const done = new Map(moved.map(({ todo }) => [todo.id, todo.lease_epoch]))
  return Promise.all(
    completions.map(async (held) => {
      if (done.get(held.id) === held.leaseEpoch || (await repeated(db, held, 'completed')))
        return { id: held.id, ok: true }
      const { code } = await whyNotHeld(db, held, caller, 'complete')
      return { id: held.id, ok: false, code }
    }),
  )
}
