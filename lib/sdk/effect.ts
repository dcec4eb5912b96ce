import { Refusal } from '#lib/model/errors'
import { argumentsHash } from '#lib/wire/arguments-hash'
import type { Effect } from '#lib/wire/effect'
import type { AskAnew, Park } from './ask'
import { isStale } from './asked-anew'
import type { Client } from './client'
import { messageOf } from './failure'
import { Fatal } from './fatal'
import type { Json } from './json'
import type { Lease } from './lease'
import { isPassing, persist } from './persist'
import type { Answer } from './prompt'
import { isUnfit } from './unfit'
import { askWhether } from './whether'

/** An approval, as `approve` gave it. */
type Approval = Pick<Answer<unknown>, 'interrupt'>

/** What an effect is. */
export interface EffectOptions {
  /** Whether doing it twice does no harm. */
  idempotent: boolean
  /** What it is done with; an approval covers exactly this. */
  arguments?: Json
  /** The approval it needs, as `approve` gave it. One that no longer counts is asked for anew. */
  approval?: Approval
  /** For people: what it does, in a sentence. */
  description?: string
}

/**
 * Does something outside, declared before and reported after, so that it is not done twice; gives what it came to, as it is
 * stored. Rejects with `approval_mismatch` where the approval does not cover it, and asking anew would not help.
 */
export type Perform = <Result extends Json>(
  key: string,
  options: EffectOptions,
  run: () => Promise<Result> | Result,
) => Promise<Result>

/** Thrown by what runs an effect: it was certainly not done, so that it may be begun again. Its cause is what the handler sees. */
export class NotDone extends Error {
  override readonly name = 'NotDone'
}

/** What effects need of the attempt they belong to. */
export interface Surroundings {
  client: Client
  lease: Lease
  park: Park
  askAnew: AskAnew
}

const PATIENCE_MS = 60_000
const MOST_LAPSES = 5

/** One attempt's way to do things outside. */
export function createEffect(surroundings: Surroundings): Perform {
  return async <Result extends Json>(key: string, options: EffectOptions, run: () => Promise<Result> | Result) => {
    const effect = await begin(surroundings, key, options)
    if (effect.status === 'confirmed') return effect.result as Result
    const result = await attempted(surroundings, key, run)
    const confirmed = await confirm(surroundings, key, result)
    surroundings.lease.signal.throwIfAborted()
    return confirmed.result as Result
  }
}

/** The effect, begun by this attempt or confirmed before; what stands in the way is cleared first, if it can be. */
async function begin(surroundings: Surroundings, key: string, options: EffectOptions): Promise<Effect> {
  const { client, lease } = surroundings
  const { signal } = lease
  signal.throwIfAborted()
  const declared = await declaration(lease, key, options)
  const standing: Standing = { key, lapses: 0, approval: options.approval }
  for (;;) {
    const under = standing.approval && { interrupt_id: standing.approval.interrupt.id }
    const declare = () => client.beginEffect({ ...declared, ...under }, { signal })
    try {
      return (await persist(declare, { isWorthIt: isPassing, signal })).effect
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      await clear(surroundings, standing, error)
    }
  }
}

/** How a begin stands: how often its lease had lapsed, and under which approval it is tried. */
interface Standing {
  readonly key: string
  lapses: number
  approval: Approval | undefined
}

/** Clears what stood in the way of a begin, or throws that on. */
async function clear(surroundings: Surroundings, standing: Standing, refusal: Refusal): Promise<void> {
  const { key, approval } = standing
  if (refusal.code === 'effect_uncertain') await askWhether(surroundings, key, refusal)
  // The lease had lapsed, though nobody has taken the todo yet.
  else if (refusal.code === 'invalid_state' && standing.lapses++ < MOST_LAPSES) await beat(surroundings)
  else if (approval && isStale(refusal)) standing.approval = await approvedAnew(surroundings, approval, refusal)
  else surroundings.lease.loseIfLost(refusal)
}

/** The approval given when it was asked for anew; where there is none the refusal stands. */
async function approvedAnew({ askAnew }: Surroundings, { interrupt }: Approval, refusal: Refusal): Promise<Approval> {
  const said = await askAnew(interrupt, refusal.message)
  if (said?.action === 'accept') return said
  throw refusal
}

async function beat({ client, lease }: Surroundings): Promise<void> {
  const { id, lease_epoch } = lease.todo
  const since = performance.now()
  await client.heartbeat({ id, lease_epoch }, { signal: lease.signal }).catch(lease.loseIfLost)
  lease.beaten(since)
}

async function declaration(lease: Lease, key: string, options: EffectOptions) {
  const { idempotent, description, approval } = options
  const isBound = options.arguments !== undefined || approval !== undefined
  return {
    id: lease.todo.id,
    lease_epoch: lease.todo.lease_epoch,
    key,
    idempotent,
    request_id: crypto.randomUUID(),
    ...(description !== undefined && { description }),
    ...(isBound && { arguments_hash: await argumentsHash(options.arguments) }),
  }
}

async function attempted<Result>(surroundings: Surroundings, key: string, run: () => Promise<Result> | Result) {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof NotDone)) throw error
    await report(surroundings, { key, status: 'failed' })
    throw error.cause ?? error
  }
}

/** That it was done is kept in any case: nobody should be asked whether it happened because of what came of it. */
async function confirm(surroundings: Surroundings, key: string, result: Json): Promise<Effect> {
  try {
    return await report(surroundings, { key, status: 'confirmed', result })
  } catch (error) {
    if (!isUnfit(error)) throw error
    await report(surroundings, { key, status: 'confirmed' })
    const message = `${key} was done, but what came of it cannot be kept: ${messageOf(error)}`
    throw new Fatal(message, { code: 'result_refused', cause: error })
  }
}

interface Outcome {
  key: string
  status: 'confirmed' | 'failed'
  result?: Json
}

// Also once the lease is lost: the server takes the word of the epoch that began it, and nobody else knows.
async function report({ client, lease }: Surroundings, outcome: Outcome): Promise<Effect> {
  const { id, lease_epoch } = lease.todo
  const tell = () => client.settleEffect({ id, lease_epoch, ...outcome })
  return (await persist(tell, { isWorthIt: isPassing, forMs: Math.max(PATIENCE_MS, lease.spanMs) })).effect
}
