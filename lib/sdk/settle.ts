import { Refusal } from '#lib/model/errors'
import type { Client } from './client'
import { failureOf, messageOf } from './failure'
import { Fatal, Parked, Stopped, Waiting } from './fatal'
import type { Json } from './json'
import type { Lease, Usage } from './lease'
import type { Log } from './log'
import { isPassing, persist } from './persist'
import { isUnfit } from './unfit'

/** How a handler ended. */
export type Ending = { result: Json | undefined } | { error: unknown }

/** What settling needs. */
export interface Settlement {
  client: Client
  lease: Lease
  log: Log
  /** Aborted when the worker is gone and nothing should be sent any more. */
  gone: AbortSignal
}

const PATIENCE_MS = 60_000

/**
 * Tells the server how an attempt ended. Once its signal is aborted it neither completes nor fails: what a stopping
 * worker still holds is given back at no cost, what is lost is left alone. Never throws.
 */
export async function settle(settlement: Settlement, ending: Ending): Promise<void> {
  const { lease, log } = settlement
  const { todo, signal } = lease
  try {
    if (signal.reason instanceof Parked) log({ level: 'info', message: 'A question is parked', todo })
    else if (signal.reason instanceof Waiting) log({ level: 'info', message: 'A todo waits for its children', todo })
    else if (signal.reason instanceof Stopped) await letGo(settlement)
    else if (signal.aborted)
      log({ level: 'warn', message: 'A lease was lost, its todo left alone', todo, error: signal.reason })
    else if ('error' in ending) await fail(settlement, ending.error)
    else await complete(settlement, ending.result)
  } catch (error) {
    log({ level: 'warn', message: 'The end of an attempt could not be reported', todo, error })
  }
}

async function complete(settlement: Settlement, result: Json | undefined): Promise<void> {
  const { client } = settlement
  try {
    await report(settlement, (held) => client.complete({ ...held, result }))
  } catch (error) {
    if (!isUnfit(error)) throw error
    const message = `The result cannot be kept: ${messageOf(error)}`
    await fail(settlement, new Fatal(message, { code: 'result_refused', cause: error }))
  }
}

async function fail(settlement: Settlement, thrown: unknown): Promise<void> {
  const { client, log, lease } = settlement
  log({ level: 'warn', message: 'A handler failed', todo: lease.todo, error: thrown })
  const { error, ...failure } = failureOf(thrown)
  const { data, ...plain } = error
  try {
    await report(settlement, (held) => client.fail({ ...held, ...failure, error }))
  } catch (refusal) {
    if (data === undefined || !isUnfit(refusal)) throw refusal
    await report(settlement, (held) => client.fail({ ...held, ...failure, error: plain }))
  }
}

/**
 * Gives back what a stopping worker has: a question it holds is parked, whatever else it works on is released. Which it is
 * the server knows best: an answer may have come meanwhile, or a question been opened whose answer was broken off.
 */
async function letGo(settlement: Settlement): Promise<void> {
  const { client, lease } = settlement
  // What it has used is known by its question's asking, and the next claim counts anew.
  const park = () => report(settlement, ({ usage, ...held }) => client.park(held))
  const release = () => report(settlement, (held) => client.release({ ...held, reason: 'worker_stopping' }))
  const [likely, otherwise] = lease.isAsking ? [park, release] : [release, park]
  try {
    // Each try may come too late for the state it was meant for, but an answer comes only once.
    for (const give of [likely, otherwise, likely]) if (await give().catch(unlessMoved)) return
    await otherwise()
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'lease_lost') throw error
    // Parked, though its worker never heard so, or taken: either way it is not this worker's to give back.
    settlement.log({ level: 'info', message: 'A todo was let go of before it could be given back', todo: lease.todo })
  }
}

/** Null where the todo is in another state than was thought. */
function unlessMoved(error: unknown): null {
  if (error instanceof Refusal && error.code === 'invalid_state') return null
  throw error
}

// The lease may run out meanwhile: until the reaper has taken the todo back, the server accepts how it ended.
function report<Answer>({ lease, gone }: Settlement, tell: (held: HeldBy) => Promise<Answer>): Promise<Answer> {
  const { id, lease_epoch } = lease.todo
  const forMs = Math.max(PATIENCE_MS, lease.spanMs)
  return persist(() => tell({ id, lease_epoch, ...(lease.usage && { usage: lease.usage }) }), {
    isWorthIt: isPassing,
    forMs,
    signal: gone,
  })
}

interface HeldBy {
  id: string
  lease_epoch: number
  usage?: Usage
}
