import type { Database } from '#lib/db/connect'
import { within } from '#lib/db/within'
import { READY_REASONS, type ReadyReason } from '#lib/model/transitions'
import { log } from '#lib/ops/log'
import { createPause } from '#lib/ops/pause'
import type { Event } from '#lib/wire/event'
import type { Card } from '#lib/wire/todo'
import type { HookTable } from './hooks'
import type { Position } from './position'
import { cardsOf, endOfLog, readLog } from './read-log'

/** A reader of the event log that fires the hooks of every fact from where it began, each once. */
export interface Follower {
  /** Reads on at once: a bell rang, or one may have been missed. */
  wake(): void
  stop(): Promise<void>
}

export interface FollowOptions {
  hooks: HookTable
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
export async function follow(database: Database, { hooks, pollMs }: FollowOptions): Promise<Follower> {
  const pause = createPause()
  let position: Position | null = null
  let isStopped = false
  let isAway = false

  async function look(): Promise<number> {
    try {
      if (position === null) position = await within(ANSWER_MS, endOfLog(database))
      const { isWhole, ...found } = await lookOn(database, position, hooks)
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

async function lookOn(database: Database, position: Position, hooks: HookTable) {
  const found = await within(ANSWER_MS, readLog(database, position))
  if (found.events.length > 0 && hooks.isUsed()) {
    const ids = found.events.flatMap(({ todo_id }) => todo_id ?? [])
    const cards = await within(ANSWER_MS, cardsOf(database, ids))
    for (const event of found.events) tell(hooks, event, cards)
  }
  return found
}

function tell(hooks: HookTable, event: Event, cards: ReadonlyMap<string, Card>): void {
  if (event.verb === 'setting' || event.verb === 'bulk') {
    hooks.fire(event.verb, event)
    return
  }
  const { id, todo_id, verb, from_state: from, to_state: to, reason, actor, attempt_seq, lease_epoch, at } = event
  const todo = cards.get(todo_id ?? '') ?? null
  hooks.fire('transition', { event_id: id, todo, verb, from, to, reason, actor, attempt_seq, lease_epoch, at })
  const becameReady = to === 'pending' && (READY_REASONS as Partial<Record<string, ReadyReason>>)[verb]
  if (todo && becameReady) {
    const { queue, available_at } = todo
    hooks.fire('ready', { todo_id: todo.id, queue, reason: becameReady, available_at })
  }
}
