import { Refusal } from '#lib/model/errors'
import { type Asking, claim, claimById } from '#lib/queue/claim'
import { release } from '#lib/queue/release'
import type { ClaimedTodo } from '#lib/wire/todo'
import type { Call } from './call'

type Claiming = Call<'claim'> | Call<'claimTodo'>

const NOBODY_WAITS = 'the client had gone before it was answered'

/** Claims what is ready, waiting for the first if `wait_seconds` says so; empty when the time is up. Nothing goes to a client that has gone. */
export function claimPatiently(call: Call<'claim'>): Promise<ClaimedTodo[]> {
  const { core, caller, body } = call
  const asking = { ...askingOf(call), queues: body.queues, limit: body.limit }
  const wanted = { queues: body.queues ?? caller.queues, endpoint: caller.name }
  return patiently(call, wanted, () => claim(core.database, asking, caller))
}

/** Claims this todo, waiting until it is claimable if `wait_seconds` says so. Refuses as `claimById` does. */
export async function claimOnePatiently(call: Call<'claimTodo'>): Promise<ClaimedTodo> {
  const { core, caller, params, body } = call
  let refusal = new Refusal('unavailable', { detail: 'The server is stopping', retry_after_seconds: 1 })
  const [todo] = await patiently(call, { queues: null, endpoint: caller.name, todoId: params.id }, async () => {
    try {
      return [await claimById(core.database, params.id, askingOf(call), caller)]
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'invalid_state' || !body.wait_seconds) throw error
      refusal = error
      return []
    }
  })
  if (todo) return todo
  throw refusal
}

const askingOf = ({ body }: Claiming): Asking => ({
  leaseSeconds: body.lease_seconds,
  worker: body.worker,
  requestId: body.request_id,
})

type Wanted = Parameters<Call<'claim'>['core']['live']['whenReady']>[0]

function patiently(call: Claiming, wanted: Wanted, claimNow: () => Promise<ClaimedTodo[]>): Promise<ClaimedTodo[]> {
  const { core, body, signal } = call
  if (!body.wait_seconds) return given(call, claimNow)
  let hasWaited = false
  return core.live.whenReady(wanted, { timeoutMs: body.wait_seconds * 1000, signal }, async () => {
    if (hasWaited) await call.stillMay()
    hasWaited = true
    return given(call, claimNow)
  })
}

/** Claims for a client that is still there; what it can no longer be given goes back at once, at no cost. */
async function given(
  { core, caller, signal }: Claiming,
  claimNow: () => Promise<ClaimedTodo[]>,
): Promise<ClaimedTodo[]> {
  if (signal.aborted) return []
  const todos = await claimNow()
  if (!signal.aborted) return todos
  for (const { id, lease_epoch: leaseEpoch } of todos) {
    await release(core.database, { id, leaseEpoch, endpointId: caller.id }, caller, { reason: NOBODY_WAITS }).catch(
      () => {},
    )
  }
  return []
}
