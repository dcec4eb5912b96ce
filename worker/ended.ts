import type { Database } from '#lib/db/connect'
import { isTerminal, type State, TERMINAL } from '#lib/model/states'
import { literals } from '#lib/queue/move'
import type { Forgotten } from '#lib/queue/retention'
import type { Transitioned } from '#lib/wire/frame'

/** How many todos of one queue have ended in one state. */
export interface EndedCount {
  queue: string
  state: State
  count: number
}

/** A tally of what has ended: counted now and then, and kept by what happens in between. */
export interface EndedTally {
  counts(): EndedCount[]
  /** Counts anew if it is time for that. */
  refresh(): Promise<void>
  /** A todo moved. */
  hear(fact: Pick<Transitioned, 'todo' | 'from' | 'to' | 'at'>): void
  /** Ended todos have been deleted. */
  forgot(todos: readonly Forgotten[]): void
}

// Ended todos can only be counted by reading them all. That takes at most a hundredth of the time: with ten million of
// them, some seconds about every half hour, with few of them every round.
const SHARE = 0.01
const TIMEOUT_MS = 600_000

const COUNT = `SELECT t.queue, t.state, count(*) AS count
  FROM todos t WHERE t.state IN (${literals(TERMINAL)}) GROUP BY t.queue, t.state`

/** Makes a tally that knows nothing yet. */
export function createEndedTally(database: Database): EndedTally {
  let tally = new Map<string, EndedCount>()
  let countedAt: string | null = null
  let nextCountAt = 0

  function add(queue: string, state: string, by: 1 | -1): void {
    const key = `${queue} ${state}`
    const known = tally.get(key) ?? { queue, state: state as State, count: 0 }
    tally.set(key, { ...known, count: Math.max(0, known.count + by) })
  }

  return {
    counts: () => [...tally.values()],
    refresh: async () => {
      if (performance.now() < nextCountAt) return
      const began = performance.now()
      const { at, rows } = await count(database)
      tally = new Map(rows.map((row) => [`${row.queue} ${row.state}`, row]))
      countedAt = at
      nextCountAt = performance.now() + (performance.now() - began) / SHARE
    },
    hear: ({ todo, from, to, at }) => {
      // What began before the count is in it, but for what committed while it began: the next count puts that right.
      if (!todo || countedAt === null || at < countedAt) return
      if (from && isTerminal(from)) add(todo.queue, from, -1)
      if (to && isTerminal(to)) add(todo.queue, to, 1)
    },
    forgot: (todos) => {
      for (const { queue, state } of todos) add(queue, state, -1)
    },
  }
}

const count = (database: Database): Promise<{ at: string; rows: EndedCount[] }> =>
  database.transaction(async (db) => {
    await db.query({ text: `SET LOCAL statement_timeout = ${TIMEOUT_MS}` })
    const rows = await db.query<EndedCount>({ text: COUNT })
    const [clock] = await db.query<{ at: string }>({ text: 'SELECT now() AS at' })
    return { at: clock?.at ?? '', rows }
  })
