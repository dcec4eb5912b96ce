import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Db } from '#lib/db/connect'
import type { MetricName } from '#lib/model/metrics'
import { LIVE, STATE_NAMES, STATES, type State, TERMINAL } from '#lib/model/states'
import { fillGauge } from '#lib/ops/metrics'
import { literals } from '#lib/queue/move'
import type { Log } from './drain'
import { createNotices } from './notices'

/** One queue's todos of one state: how many, and how long the oldest has waited, where that is asked of the state. */
interface Tally {
  queue: string
  state: State
  count: number
  oldest_seconds: number | null
}

interface Surroundings {
  /** Whether the tables are of this build's revision. */
  isHealthy: () => boolean
  log: Log
  signal: AbortSignal
}

const EVERY_MS = 15_000
// Until the tables are known to be well.
const RETRY_MS = 1000

// Ended todos can only be counted by reading them all. That takes at most a hundredth of the time: with ten million of
// them, some seconds about every half hour, with few of them every round.
const TERMINAL_SHARE = 0.01
const TERMINAL_TIMEOUT_MS = 600_000

/** Since when a todo of this state has waited, as SQL on `t`; null where nobody waits. */
const waitsSince = (state: State): string => {
  if (state === 'pending') return 'min(t.available_at) FILTER (WHERE t.available_at <= now())'
  return STATES[state].kind === 'interrupt' ? 'min(t.interrupted_at)' : 'NULL::timestamptz'
}

// One part a state, so that each finds its own partial index.
const LIVE_TALLIES = LIVE.map(
  (state) => `SELECT t.queue, '${state}' AS state, count(*) AS count,
    extract(epoch FROM now() - ${waitsSince(state)})::float8 AS oldest_seconds
    FROM todos t WHERE t.state = '${state}' GROUP BY t.queue`,
).join(' UNION ALL ')

const TERMINAL_TALLIES = `SELECT t.queue, t.state, count(*) AS count, NULL::float8 AS oldest_seconds
  FROM todos t WHERE t.state IN (${literals(TERMINAL)}) GROUP BY t.queue, t.state`

/** Fills the gauges from the tables every 15 seconds until the signal; ended todos are counted on a slower clock. */
export async function keepGauges(database: Database, { isHealthy, log, signal }: Surroundings): Promise<void> {
  const notice = createNotices()
  let ended: Tally[] = []
  let nextCountAt = 0
  async function round(): Promise<number> {
    if (!isHealthy()) return RETRY_MS
    if (performance.now() >= nextCountAt) {
      const began = performance.now()
      ended = await countEnded(database)
      nextCountAt = performance.now() + (performance.now() - began) / TERMINAL_SHARE
    }
    await fill(database, ended)
    notice({ topic: 'gauges', matter: null, begins: () => {} })
    return EVERY_MS
  }

  function failed(error: unknown): number {
    const begins = () => log.warn({ err: error }, 'the gauges cannot be filled; trying again')
    notice({ topic: 'gauges', matter: String(error), begins })
    return EVERY_MS
  }

  while (!signal.aborted) await sleep(await round().catch(failed), undefined, { signal }).catch(() => {})
}

const countEnded = (database: Database): Promise<Tally[]> =>
  database.transaction(async (db) => {
    await db.query({ text: `SET LOCAL statement_timeout = ${TERMINAL_TIMEOUT_MS}` })
    return db.query<Tally>({ text: TERMINAL_TALLIES })
  })

async function fill(db: Db, ended: readonly Tally[]): Promise<void> {
  const live = await db.query<Tally>({ name: 'tallies', text: LIVE_TALLIES })
  const queues = await db.query<{ name: string }>({
    name: 'queue_names',
    text: 'SELECT name FROM queues ORDER BY name',
  })
  const names = queues.map(({ name }) => name)
  const tallies = new Map([...live, ...ended].map((tally) => [`${tally.queue} ${tally.state}`, tally]))
  const every = names.flatMap((queue) => STATE_NAMES.map((state) => ({ queue, state })))
  const counts = every.map((labels) => [labels, tallies.get(`${labels.queue} ${labels.state}`)?.count ?? 0] as const)
  fillGauge('switchboard_queue_todos', counts)
  fillOldest(
    'switchboard_queue_oldest_pending_seconds',
    names,
    live.filter(({ state }) => state === 'pending'),
  )
  fillOldest(
    'switchboard_oldest_interrupt_seconds',
    names,
    live.filter(({ state }) => STATES[state].kind === 'interrupt'),
  )
}

function fillOldest(gauge: MetricName, queues: readonly string[], tallies: readonly Tally[]): void {
  const waited = [
    ...queues.map((queue) => [queue, 0] as const),
    ...tallies.map((one) => [one.queue, one.oldest_seconds ?? 0] as const),
  ]
  const rows = waited.map(([queue, seconds]) => [{ queue }, seconds] as const)
  fillGauge(gauge, rows, Math.max)
}
