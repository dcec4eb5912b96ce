import type { ClaimedTodo } from '#lib/wire/todo'
import type { AnswerOf, Client } from './client'
import type { Log } from './log'
import { jittered, pause } from './pause'
import { isPassing, persist } from './persist'

/** What a worker claims by. */
export interface Claiming {
  client: Client
  log: Log
  queues: string[] | undefined
  leaseSeconds: number | undefined
  name: string | undefined
  /** Aborted once nothing more is to be claimed. */
  stopping: AbortSignal
}

/** What was claimed, and when the claim was first sent, by the monotonic clock: no lease in it began earlier. */
export interface Claimed {
  todos: ClaimedTodo[]
  since: number
}

const WAIT_SECONDS = 25
const MOST_CLAIMED = 100
const SPARE_MS = 1000
const LAST_SECONDS = 3

/**
 * Claims up to so many, waiting until there is something; empty when there was nothing for a while or the worker is to stop.
 * However often it is sent, it is one claim, so that nothing claimed is lost with an answer.
 */
export async function claimSome(claiming: Claiming, room: number): Promise<Claimed> {
  const { client, log, stopping } = claiming
  const since = performance.now()
  const claim = {
    queues: claiming.queues,
    lease_seconds: claiming.leaseSeconds,
    worker: claiming.name,
    limit: Math.min(room, MOST_CLAIMED),
    request_id: crypto.randomUUID(),
  }
  const ask = () => client.claim({ ...claim, wait_seconds: WAIT_SECONDS }, { signal: stopping, retrySeconds: 0 })
  const persistence = { isWorthIt: isPassing, signal: stopping, onFailure: once(warn(log)) }
  const { todos } = await persist(ask, persistence).catch((error: unknown) => {
    if (!stopping.aborted) throw error
    return brokenOff(claiming, claim)
  })
  // A server that is closing down answers early.
  const isEarly = todos.length === 0 && performance.now() - since < SPARE_MS
  if (isEarly) await pause(jittered(SPARE_MS), stopping).catch(() => {})
  return { todos, since }
}

/** What a claim that was broken off has claimed all the same, so that it can be given back; its repeat tells. */
async function brokenOff(
  { client, log }: Claiming,
  claim: { request_id: string; limit: number },
): Promise<AnswerOf<'claim'>> {
  try {
    return await client.claim({ ...claim, limit: 1 }, { retrySeconds: LAST_SECONDS, timeoutSeconds: LAST_SECONDS })
  } catch (error) {
    log({ level: 'warn', message: 'The last claim may have come through; its leases will run out', error })
    return { todos: [] }
  }
}

const warn = (log: Log) => (error: unknown) =>
  log({ level: 'warn', message: 'Nothing can be claimed at the moment', error })

function once<Given>(act: (given: Given) => void): (given: Given) => void {
  let isDone = false
  return (given) => {
    if (!isDone) act(given)
    isDone = true
  }
}
