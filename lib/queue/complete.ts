import type { Db } from '#lib/db/connect'
import type { ErrorCode } from '#lib/model/errors'
import type { EndpointCaller } from '#lib/wire/caller'
import { firstMentions, HELD_BY, HELD_INPUT, heldRow } from './held'
import { moveHeld } from './holder-call'
import { move } from './move'
import type { Plan } from './plan'
import type { Usage } from './usage'
import { type Held, repeated, whyNotHeld } from './why-not'

const COMPLETE: Plan = {
  transition: 'complete',
  input: { ...HELD_INPUT, result: 'jsonb', usage: 'jsonb' },
  pick: { named: HELD_BY },
  set: { result: 'p.in_result', error: 'NULL' },
}

/** Ends the todo well; the result replaces whatever stood there. Refuses with not_found, todo_terminal, lease_lost, invalid_state. */
export function complete(db: Db, held: Held & { usage?: Usage | undefined }, caller: EndpointCaller, result: unknown) {
  const { usage, ...lease } = held
  return moveHeld(db, COMPLETE, caller, { held: lease, input: { result }, outcome: 'completed', usage })
}

/** One of a batch: its lease and result. */
export type Completion = Held & { result?: unknown; usage?: Usage | undefined }

/** What became of one of a batch. */
export interface BatchResult {
  id: string
  ok: boolean
  code?: ErrorCode
}

/** Completes many in one statement, each by its own lease; one that is lost doesn't touch the others. Answers in order. */
export async function completeMany(db: Db, completions: Completion[], caller: EndpointCaller): Promise<BatchResult[]> {
  const rows = firstMentions(completions).map(({ result, usage, ...held }) => heldRow(held, { result, usage }))
  const moved = await move(db, COMPLETE, rows)
  const done = new Map(moved.map(({ todo }) => [todo.id, todo.lease_epoch]))
  return Promise.all(
    completions.map(async (held) => {
      if (done.get(held.id) === held.leaseEpoch || (await repeated(db, held, ['completed'])))
        return { id: held.id, ok: true }
      const { code } = await whyNotHeld(db, held, caller, 'complete')
      return { id: held.id, ok: false, code }
    }),
  )
}
