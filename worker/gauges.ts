import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Db } from '#lib/db/connect'
import type { MetricName } from '#lib/model/metrics'
import { LIVE, STATE_NAMES, STATES, type State } from '#lib/model/states'
import { fillGauge } from '#lib/ops/metrics'
import type { Log } from './drain'
import type { EndedCount, EndedTally } from './ended'
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
  ended: EndedTally
  log: Log
  signal: AbortSignal
}

const EVERY_MS = 15_000
// Until the tables are known to be well.
const RETRY_MS = 1000

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

/** Fills the gauges from the tables every 15 seconds until the signal; what has ended comes from its tally. */
export async function keepGauges(database: Database, { isHealthy, ended, log, signal }: Surroundings): Promise<void> {
  const notice = createNotices()
  async function round(): Promise<number> {
    if (!isHealthy()) return RETRY_MS
    await ended.refresh()
    await fill(database, ended.counts())
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

async function fill(db: Db, ended: readonly EndedCount[]): Promise<void> {
  const live = await db.query<Tally>({ name: 'tallies', text: LIVE_TALLIES })
  const queues = await db.query<{ name: string }>({
    name: 'queue_names',
    text: 'SELECT name FROM queues ORDER BY name',
  })
  const names = queues.map(({ name }) => name)
  const tallies = new Map([...live, ...ended].map((tally) => [`${tally.queue} ${tally.state}`, tally.count]))
  const every = names.flatMap((queue) => STATE_NAMES.map((state) => ({ queue, state })))
  const counts = every.map((labels) => [labels, tallies.get(`${labels.queue} ${labels.state}`) ?? 0] as const)
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
