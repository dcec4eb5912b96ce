import { resume } from '#lib/queue/answer'
import { complete, completeMany } from '#lib/queue/complete'
import { fail } from '#lib/queue/fail'
import { heartbeat, heartbeatMany } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import { release } from '#lib/queue/release'
import type { Held } from '#lib/queue/why-not'
import type { EndpointCaller } from '#lib/wire/caller'
import { type Bindings, ok } from './call'
import { claimOnePatiently, claimPatiently } from './wait-claim'

type WorkOperations =
  | 'claim'
  | 'claimTodo'
  | 'heartbeat'
  | 'heartbeatMany'
  | 'complete'
  | 'completeMany'
  | 'fail'
  | 'release'
  | 'interrupt'
  | 'resume'

interface Holding {
  params: { id: string }
  body: { lease_epoch: number }
  caller: EndpointCaller
}

/** The lease a call says it holds. */
const held = ({ params, body, caller }: Holding): Held =>
  heldBy(caller, { id: params.id, lease_epoch: body.lease_epoch })

const heldBy = (caller: EndpointCaller, { id, lease_epoch }: { id: string; lease_epoch: number }): Held => ({
  id,
  leaseEpoch: lease_epoch,
  endpointId: caller.id,
})

/** What the holder of a lease does. */
export const WORK_BINDINGS: Bindings<WorkOperations> = {
  claim: async (call) => ok({ todos: await claimPatiently(call) }),
  claimTodo: async (call) => ok({ todo: await claimOnePatiently(call) }),
  heartbeat: async ({ core, caller, params, body }) => {
    const { lease_seconds: leaseSeconds, progress, checkpoint } = body
    const beat = { ...held({ caller, params, body }), leaseSeconds, progress, checkpoint }
    return ok(await heartbeat(core.database, beat, caller))
  },
  heartbeatMany: async ({ core, caller, body }) => {
    const beats = body.items.map(({ lease_seconds: leaseSeconds, progress, checkpoint, ...lease }) => ({
      ...heldBy(caller, lease),
      leaseSeconds,
      progress,
      checkpoint,
    }))
    return ok({ results: await heartbeatMany(core.database, beats, caller) })
  },
  complete: async (call) => ok({ todo: await complete(call.core.database, held(call), call.caller, call.body.result) }),
  completeMany: async ({ core, caller, body }) => {
    const completions = body.items.map(({ result, ...lease }) => ({ ...heldBy(caller, lease), result }))
    return ok({ results: await completeMany(core.database, completions, caller) })
  },
  fail: async (call) => {
    const { error, retryable, retry_after_seconds: retryAfterSeconds } = call.body
    return ok({
      todo: await fail(call.core.database, held(call), call.caller, { error, retryable, retryAfterSeconds }),
    })
  },
  release: async (call) => ok({ todo: await release(call.core.database, held(call), call.caller, call.body) }),
  interrupt: async (call) => {
    const { lease_epoch, mode, ...question } = call.body
    const { created, ...asked } = await interrupt(call.core.database, held(call), call.caller, question)
    return { status: created ? 201 : 200, body: asked }
  },
  resume: async (call) => {
    const { lease_epoch, interrupt_id: interruptId, ...reply } = call.body
    return ok(await resume(call.core.database, held(call), call.caller, { interruptId, ...reply }))
  },
}
