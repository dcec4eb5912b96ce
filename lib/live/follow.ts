import type { Database } from '#lib/db/connect'
import { within } from '#lib/db/within'
import { log } from '#lib/ops/log'
import { createPause } from '#lib/ops/pause'
import type { Event } from '#lib/wire/event'
import type { Card } from '#lib/wire/todo'
import { factsOf } from './facts'
import type { HookTable } from './hooks'
import type { Position } from './position'
import { cardsOf, endOfLog, readLog } from './read-log'

/** A reader of the event log that fires the hooks of every fact from where it began, each once. */
export interface Follower {
  /** Reads on at once: a bell rang, or one may have been missed. */
  wake(): void
  stop(): Promise<void>
}

/** What one look at the log found: the events in log order, and their todos as they are now. */
export interface Look {
  events: readonly Event[]
  cards: ReadonlyMap<string, Card>
  /** How far the log has been read with it. */
  position: Position
}

/** Somebody to whom whole looks are told, after the hooks. */
export interface Watcher {
  /** Whether the todos of events are wanted; asked when the events have been read. */
  isUsed(): boolean
  /** The log is followed from here on; told once. */
  began(position: Position): void
  /** Events were deleted before they could be told. */
  missed(): void
  looked(look: Look): void
}

export interface FollowOptions {
  hooks: HookTable
  watcher?: Watcher
  /** How long to wait for a bell before looking anyway. */
  pollMs: () => number
}

const RETRY_MS = 1000
// Long enough for a busy pool; a half-open connection would hold a look up for a quarter of an hour.
const ANSWER_MS = 10_000
const STOP_MS = 2000

/**
 * Follows the log from its present end. Facts are told in log order; one whose number was taken early and that commits
 * late is told when it appears. A database that is away is asked again every second, and nothing is lost meanwhile.
 */
export async function follow(database: Database, options: FollowOptions): Promise<Follower> {
  const { watcher, pollMs } = options
  const pause = createPause()
  let position: Position | null = null
  let forgotten = 0
  let isStopped = false
  let isAway = false

  async function look(): Promise<number> {
    try {
      if (position === null) {
        position = await within(ANSWER_MS, endOfLog(database))
        watcher?.began(position)
      }
      const { isWhole, ...found } = await lookOn(database, position, options)
      // Told once: while nothing new happens the position stays behind what was deleted.
      if (found.forgotten > Math.max(position.last, forgotten)) watcher?.missed()
      forgotten = found.forgotten
      position = found.position
      if (isAway) log.info('the event log can be read again')
      isAway = false
      return isWhole ? pollMs() : 0
    } catch (error) {
      if (!isAway && !isStopped) log.warn({ err: error }, 'the event log cannot be read; trying again')
      isAway = true
      return RETRY_MS
    }
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const waitMs = await look()
      if (waitMs > 0 && !isStopped) await pause.sleep(waitMs)
    }
  }

  await look()
  const ended = run()
  return {
    wake: pause.wake,
    stop: async () => {
      isStopped = true
      pause.wake()
      // A look that gets no answer must not hold up the process's end.
      await within(STOP_MS, ended).catch(() => {})
    },
  }
}

async function lookOn(database: Database, position: Position, { hooks, watcher }: FollowOptions) {
  const found = await within(ANSWER_MS, readLog(database, position))
  const isAsked = found.events.length > 0 && (hooks.isUsed() || watcher?.isUsed())
  const ids = isAsked ? found.events.flatMap(({ todo_id }) => todo_id ?? []) : []
  const cards = await within(ANSWER_MS, cardsOf(database, ids))
  if (isAsked) for (const event of found.events) tell(hooks, event, cards)
  watcher?.looked({ events: found.events, cards, position: found.position })
  return found
}

function tell(hooks: HookTable, event: Event, cards: ReadonlyMap<string, Card>): void {
  for (const { name, fact } of factsOf(event, cards.get(event.todo_id ?? '') ?? null)) hooks.fire(name, fact)
}
