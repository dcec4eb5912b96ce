import { Refusal } from '#lib/model/errors'
import { resume } from '#lib/queue/answer'
import { beginEffect } from '#lib/queue/begin-effect'
import { complete, completeMany } from '#lib/queue/complete'
import { fail } from '#lib/queue/fail'
import { heartbeat, heartbeatMany } from '#lib/queue/heartbeat'
import { interrupt } from '#lib/queue/interrupt'
import { park, parkForHolder } from '#lib/queue/park'
import { release } from '#lib/queue/release'
import { reportEffect, settleEffect } from '#lib/queue/settle-effect'
import { wait } from '#lib/queue/wait'
import type { Held } from '#lib/queue/why-not'
import type { Caller, EndpointCaller } from '#lib/wire/caller'
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
  | 'wait'
  | 'interrupt'
  | 'resume'
  | 'park'
  | 'beginEffect'
  | 'settleEffect'

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
    const { lease_seconds: leaseSeconds, progress, checkpoint, usage } = body
    const beat = { ...held({ caller, params, body }), leaseSeconds, progress, checkpoint, usage }
    return ok(await heartbeat(core.database, beat, caller))
  },
  heartbeatMany: async ({ core, caller, body }) => {
    const beats = body.items.map(({ lease_seconds: leaseSeconds, progress, checkpoint, usage, ...lease }) => ({
      ...heldBy(caller, lease),
      leaseSeconds,
      progress,
      checkpoint,
      usage,
    }))
    return ok({ results: await heartbeatMany(core.database, beats, caller) })
  },
  complete: async (call) => {
    const { result, usage } = call.body
    return ok({ todo: await complete(call.core.database, { ...held(call), usage }, call.caller, result) })
  },
  completeMany: async ({ core, caller, body }) => {
    const completions = body.items.map(({ result, usage, ...lease }) => ({ ...heldBy(caller, lease), result, usage }))
    return ok({ results: await completeMany(core.database, completions, caller) })
  },
  fail: async (call) => {
    const { error, retryable, retry_after_seconds: retryAfterSeconds, usage } = call.body
    const failure = { error, retryable, retryAfterSeconds, usage }
    return ok({ todo: await fail(call.core.database, held(call), call.caller, failure) })
  },
  release: async (call) => ok({ todo: await release(call.core.database, held(call), call.caller, call.body) }),
  wait: async (call) => ok({ todo: await wait(call.core.database, held(call), call.caller, call.body) }),
  interrupt: async (call) => {
    const { lease_epoch, ...question } = call.body
    const { created, ...asked } = await interrupt(call.core.database, held(call), call.caller, question)
    return { status: created ? 201 : 200, body: asked }
  },
  resume: async (call) => {
    const { lease_epoch, interrupt_id: interruptId, ...reply } = call.body
    return ok(await resume(call.core.database, held(call), call.caller, { interruptId, ...reply }))
  },
  park: async ({ core, caller, params, body }) => {
    const { lease_epoch, checkpoint } = body
    if (lease_epoch === undefined) {
      mayOperate(caller)
      return ok(await parkForHolder(core.database, params.id, caller))
    }
    const worker = asWorker(caller)
    return ok(await park(core.database, heldBy(worker, { id: params.id, lease_epoch }), worker, checkpoint))
  },
  beginEffect: async (call) => {
    const { lease_epoch, ...declaration } = call.body
    const { begun, effect } = await beginEffect(call.core.database, held(call), call.caller, declaration)
    return { status: begun ? 201 : 200, body: { effect } }
  },
  settleEffect: async ({ core, caller, params: { id, key }, body }) => {
    const { status, lease_epoch, result, comment } = body
    if (status === 'confirmed' || status === 'failed') {
      const worker = asWorker(caller)
      const held = heldBy(worker, { id, lease_epoch: lease_epoch as number })
      return ok({ effect: await reportEffect(core.database, held, worker, { key, status, result }) })
    }
    if (caller.type === 'endpoint') throw new Refusal('forbidden', { detail: 'Only a person says what they found out' })
    const finding = { key, happened: status === 'happened', comment: comment as string }
    return ok({ effect: await settleEffect(core.database, id, caller, finding) })
  },
}

/** A caller that brings an epoch: an endpoint with the scope for it. */
function asWorker(caller: Caller): EndpointCaller {
  if (caller.type === 'endpoint' && caller.scopes.includes('work')) return caller
  throw new Refusal('forbidden', { detail: 'Only a worker holds a lease' })
}

/** Without an epoch it is an operator's call; a worker has forgotten its own. */
function mayOperate(caller: Caller): void {
  if (caller.type === 'person' || caller.scopes.includes('operate')) return
  const errors = [{ pointer: '/lease_epoch', message: 'is required of the holder' }]
  throw new Refusal('validation_failed', { errors })
}
