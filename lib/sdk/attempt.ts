import type { ClaimedTodo } from '#lib/wire/todo'
import type { Client } from './client'
import { type Context, createContext } from './context'
import { Stopped } from './fatal'
import type { Heartbeats } from './heartbeats'
import type { Json } from './json'
import { Lease } from './lease'
import type { Log } from './log'
import { type Ending, settle } from './settle'

/** Does the work of one todo. What it returns is the result; what it throws fails the todo, to be tried again unless it says not. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a result returns nothing
export type Handler = (context: Context) => Promise<Json | void> | Json | void

/** What a worker's attempts share. */
export interface Workplace {
  client: Client
  handler: Handler
  heartbeats: Heartbeats
  log: Log
  stopping: AbortSignal
  gone: AbortSignal
}

/** One todo under way. */
export interface Attempt {
  /** Resolves once its end has been reported; never rejects. */
  finished: Promise<void>
  /** Aborts the handler's signal; its todo is given back once the handler is done. */
  stop(): void
  /** Gives the todo back now, whatever the handler does. */
  abandon(): Promise<void>
}

/** Begins to work on a todo whose claim was sent at `since`. */
export function begin(workplace: Workplace, todo: ClaimedTodo, since: number): Attempt {
  const { client, handler, heartbeats, log, stopping, gone } = workplace
  const lease = new Lease(todo, since, heartbeats.reschedule)
  heartbeats.keep(lease)
  let settled: Promise<void> | undefined
  const settleOnce = (ending: Ending) => {
    settled ??= settle({ client, lease, log, gone }, ending).finally(() => heartbeats.leave(lease))
    return settled
  }

  async function run(): Promise<Ending> {
    try {
      await lease.certain()
      if (stopping.aborted) lease.lose(new Stopped())
      lease.signal.throwIfAborted()
      const result = await handler(createContext({ client, lease, stopping }))
      return { result: result ?? undefined }
    } catch (error) {
      return { error }
    }
  }

  return {
    finished: run().then(settleOnce),
    stop: () => lease.lose(new Stopped()),
    abandon: () => settleOnce({ error: lease.signal.reason }),
  }
}
