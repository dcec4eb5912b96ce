import type { ClaimedTodo } from '#lib/wire/todo'
import type { Approve } from './approve'
import { type Ask, createAsk, type Park } from './ask'
import { createChildren, type MakeChildren } from './children'
import type { Client } from './client'
import { createEffect, type Perform } from './effect'
import type { Json } from './json'
import type { Lease, Progress, Usage } from './lease'
import { isPassing, persist } from './persist'
import { plainText } from './plain-text'
import { type Answer, answerOf, isAnswered } from './prompt'

/** What a handler gets: one todo and what may be done about it while its lease holds. */
export interface Context {
  /** The todo as claimed: its payload, earlier questions with their answers, earlier attempts. */
  todo: ClaimedTodo
  /** Aborted, with the reason, once the todo is no longer this worker's; what is done after that is in vain. */
  signal: AbortSignal
  /** Aborted once the worker is asked to stop: finish soon, or leave a checkpoint; `signal` follows after the grace period. */
  stopping: AbortSignal
  /** What an earlier attempt has saved, or null. */
  checkpoint: Json
  /** Keeps a checkpoint for the next attempt; resolves once it is stored. */
  save(checkpoint: Json): Promise<void>
  /** Tells people how far it is, with one of the next heartbeats; of many reports the newest counts. */
  progress(progress: Progress): void
  /**
   * Asks a person and waits for the answer; at once when an earlier attempt has asked the same and got one. Rejects, and
   * aborts `signal`, when the question expires or is canceled, or the worker stops.
   */
  ask: Ask
  /**
   * Asks a person without keeping the todo meanwhile: gives the answer when an earlier attempt has asked the same and got
   * one; else this attempt ends, at no cost, and `signal` is aborted with `Parked`.
   */
  park: Park
  /**
   * Asks a person to approve an action with its arguments, parked like `park` unless it is to be held, and says who accepted
   * or declined; at once when an earlier attempt got that for the very same. Give it to `effect` as its approval.
   */
  approve: Approve
  /**
   * Does something outside at most once, where it must not be done twice: declares it, runs it, keeps what it returns. One
   * that is done gives its stored outcome and doesn't run. Where nobody knows whether an earlier attempt did it, a person
   * is asked, and this attempt ends. A `run` that throws `NotDone` has certainly not done it.
   */
  effect: Perform
  /** Has parts of the work done by others, and ends this attempt until all of them have ended. */
  children: MakeChildren
  /** Says what this attempt has used so far, in all; over the todo's budget it fails, and `signal` is aborted. */
  usage(usage: Usage): void
  /** What earlier attempts asked and had answered, oldest first. */
  answers: readonly Answer[]
  client: Client
}

/** What a context is made from. */
export interface Surroundings {
  client: Client
  lease: Lease
  stopping: AbortSignal
}

/** The context of one attempt. Its functions need no `this`. */
export function createContext({ client, lease, stopping }: Surroundings): Context {
  const { todo, signal } = lease
  const { id, lease_epoch } = todo
  const { askAnew, ...asking } = createAsk({ client, lease, stopping })
  return {
    todo,
    signal,
    stopping,
    checkpoint: todo.checkpoint,
    async save(checkpoint) {
      const store = async () => {
        const since = performance.now()
        await client.heartbeat({ id, lease_epoch, checkpoint }, { signal })
        lease.beaten(since)
      }
      await persist(store, { isWorthIt: isPassing, signal }).catch(lease.loseIfLost)
    },
    progress: ({ ratio, message }) => lease.report(sayable(ratio, message)),
    ...asking,
    effect: createEffect({ client, lease, park: asking.park, askAnew }),
    children: createChildren({ client, lease }),
    usage: (usage) => lease.use(countable(usage)),
    answers: todo.interrupts.filter(isAnswered).map((interrupt) => answerOf(interrupt)),
    client,
  }
}

// Likewise: what is no amount is left out.
function countable({ cost_usd, tokens }: Usage): Usage {
  return {
    ...(isAmount(cost_usd) && { cost_usd }),
    ...(isAmount(tokens) && { tokens: Math.round(tokens) }),
  }
}

const isAmount = (given: number | undefined): given is number =>
  given !== undefined && Number.isFinite(given) && given >= 0 && given <= 1_000_000_000_000

const MOST_MESSAGE = 500

// One report that the server refuses would cost every lease in the same call its heartbeat.
function sayable(ratio: number | undefined, message: string | undefined): Progress {
  return {
    ...(ratio !== undefined && Number.isFinite(ratio) && { ratio: Math.min(Math.max(ratio, 0), 1) }),
    ...(message !== undefined && { message: plainText(message, MOST_MESSAGE) }),
  }
}
