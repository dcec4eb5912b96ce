import { Refusal } from '#lib/model/errors'
import { argumentsHash } from '#lib/wire/arguments-hash'
import type { Effect } from '#lib/wire/effect'
import type { Park } from './ask'
import type { Client } from './client'
import { messageOf } from './failure'
import { Fatal } from './fatal'
import type { Json } from './json'
import type { Lease } from './lease'
import { isPassing, persist } from './persist'
import { plainText } from './plain-text'
import type { Answer } from './prompt'

/** What an effect is. */
export interface EffectOptions {
  /** Whether doing it twice does no harm. */
  idempotent: boolean
  /** What it is done with; an approval covers exactly this. */
  arguments?: Json
  /** The approval it needs, as `park` gave it. */
  approval?: Pick<Answer<unknown>, 'interrupt'>
  /** For people: what it does, in a sentence. */
  description?: string
}

/** Does something outside, declared before and reported after, so that it is not done twice. */
export type Perform = <Result extends Json>(
  key: string,
  options: EffectOptions,
  run: () => Promise<Result> | Result,
) => Promise<Result>

/** Thrown by what runs an effect: it was certainly not done, so that it may be begun again. */
export class NotDone extends Error {
  override readonly name = 'NotDone'
}

/** What effects need of the attempt they belong to. */
export interface Surroundings {
  client: Client
  lease: Lease
  park: Park
}

const PATIENCE_MS = 60_000
const MOST_TITLE = 200

/** One attempt's way to do things outside. */
export function createEffect(surroundings: Surroundings): Perform {
  return async <Result extends Json>(key: string, options: EffectOptions, run: () => Promise<Result> | Result) => {
    const effect = await begin(surroundings, key, options)
    if (effect.status === 'confirmed') return effect.result as Result
    const result = await attempted(surroundings, key, run)
    await report(surroundings, { key, status: 'confirmed', result })
    surroundings.lease.signal.throwIfAborted()
    return result
  }
}

/** The effect, begun by this attempt or confirmed before; what stands in the way is cleared first, if it can be. */
async function begin(surroundings: Surroundings, key: string, options: EffectOptions): Promise<Effect> {
  const { client, lease } = surroundings
  const declared = await declaration(lease, key, options)
  for (let isFirst = true; ; isFirst = false) {
    try {
      const call = () => client.beginEffect(declared, { signal: lease.signal })
      return (await persist(call, { isWorthIt: isPassing, signal: lease.signal })).effect
    } catch (error) {
      await clear(surroundings, { key, error, isFirst })
    }
  }
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
    ...(approval && { interrupt_id: approval.interrupt.id }),
  }
}

interface Obstacle {
  key: string
  error: unknown
  isFirst: boolean
}

/** Returns when beginning is worth another try; throws otherwise. In doubt it parks the question whether it happened. */
async function clear({ client, lease, park }: Surroundings, { key, error, isFirst }: Obstacle): Promise<void> {
  if (!(error instanceof Refusal)) throw error
  if (error.code === 'effect_uncertain') return askWhether(park, key, error)
  if (error.code === 'approval_mismatch') throw new Fatal(messageOf(error), { code: error.code, cause: error })
  if (error.code !== 'invalid_state' || !isFirst) lease.loseIfLost(error)
  // The lease had lapsed, though nobody has taken the todo yet.
  const { id, lease_epoch } = lease.todo
  await client.heartbeat({ id, lease_epoch }, { signal: lease.signal }).catch(lease.loseIfLost)
}

/** Parks until a person has said whether the effect happened; declined, nobody ever will, and the todo fails. */
async function askWhether(park: Park, key: string, refusal: Refusal): Promise<void> {
  const { begun_at: at } = refusal.facts
  const answer = await park({
    title: plainText(`Did it happen: ${key}?`, MOST_TITLE),
    message: `An earlier attempt began \`${key}\`${at ? ` at ${String(at)}` : ''} and ended before it could say how it went. It must not be done twice: look before you answer.`,
    schema: {
      type: 'object',
      properties: { happened: { type: 'boolean', title: 'It happened' } },
      required: ['happened'],
    },
    risk: 'high',
    effect_key: key,
  })
  if (answer.action === 'accept') return
  throw new Fatal(`Nobody could say whether ${key} happened`, { code: 'effect_uncertain', cause: refusal })
}

async function attempted<Result>({ client, lease }: Surroundings, key: string, run: () => Promise<Result> | Result) {
  try {
    return await run()
  } catch (error) {
    if (error instanceof NotDone) await report({ client, lease }, { key, status: 'failed' })
    throw error
  }
}

interface Outcome {
  key: string
  status: 'confirmed' | 'failed'
  result?: Json
}

// Also once the lease is lost: the server takes the word of the epoch that began it, and nobody else knows.
async function report({ client, lease }: Pick<Surroundings, 'client' | 'lease'>, outcome: Outcome): Promise<void> {
  const { id, lease_epoch } = lease.todo
  const tell = () => client.settleEffect({ id, lease_epoch, ...outcome })
  await persist(tell, { isWorthIt: isPassing, forMs: Math.max(PATIENCE_MS, lease.spanMs) })
}
