import type { Database } from '#lib/db/connect'
import type { Live } from '#lib/live/live'
import { createPause } from '#lib/ops/pause'
import {
  type Bound,
  boundByRows,
  type Forgotten,
  findCrowded,
  findForgettable,
  findOldBulks,
  findOldNotes,
  forgetBulks,
  forgetNotes,
  forgetTodos,
  type Keeping,
  keepingOf,
  laterBound,
  pruneAttempts,
} from '#lib/queue/retention'
import { readSettings } from '#lib/queue/settings'
import { drain, type Log } from './drain'
import { guarded } from './guarded'
import { createNotices } from './notices'
import { createSkips } from './skips'
import type { Batches } from './sweeps'

/** What retention took in a round. */
export interface Round {
  todos: number
  notes: number
  /** Bulk runs and their results. */
  bulks: number
  /** Todos whose oldest attempts were deleted. */
  crowded: number
}

interface Surroundings {
  live: Live
  /** Whether the tables are of this build's revision. */
  isHealthy: () => boolean
  /** Told of each batch of todos that were deleted. */
  forgot: (todos: readonly Forgotten[]) => void
  log: Log
  signal: AbortSignal
}

const EVERY_MS = 60_000
// Until the tables are known to be well.
const RETRY_MS = 1000

// Where the rows allowed end can only be found by going over them in an index. That takes at most so much of the time.
const LOOK_SHARE = 0.01

/** Deletes what need no longer be kept, every minute and when a setting has changed, until the signal. */
export async function keepRetention(database: Database, surroundings: Surroundings): Promise<void> {
  const { live, isHealthy, log, signal } = surroundings
  const pause = createPause()
  const off = live.on('setting', pause.wake)
  signal.addEventListener('abort', pause.wake, { once: true })
  const notice = createNotices()
  const round = createRounds(database, surroundings)

  const tell = (error: unknown) =>
    notice({
      topic: 'retention',
      matter: error === null ? null : String(error),
      begins: () => log.warn({ err: error }, 'what has ended cannot be deleted; trying again every minute'),
    })

  while (!signal.aborted) {
    if (isHealthy()) {
      await round().then(
        () => tell(null),
        (error) => tell(error),
      )
    }
    await pause.sleep(isHealthy() ? EVERY_MS : RETRY_MS)
  }
  off()
}

/** Makes what runs one round after the other, and remembers between them what is to be left alone. */
export function createRounds(
  database: Database,
  { forgot, log, signal }: Pick<Surroundings, 'forgot' | 'log' | 'signal'>,
): () => Promise<Round> {
  const skips = createSkips()
  let looked: { rows: number; nextAt: number } = { rows: 0, nextAt: 0 }

  async function look(rows: number): Promise<Bound | null> {
    if (rows === looked.rows && performance.now() < looked.nextAt) return null
    const began = performance.now()
    const found = await guarded(database, 'retention bound', (db) => boundByRows(db, rows))
    const ended = performance.now()
    looked = { rows, nextAt: ended + (ended - began) / LOOK_SHARE }
    return 'result' in found ? found.result : null
  }

  const drained = async (sweep: Batches): Promise<number> =>
    (await drain({ database, sweep, skips, log, signal })).moved

  return async () => {
    const keeping = keepingOf(await readSettings(database))
    const bound = await laterBound(database, keeping.days, await look(keeping.rows))
    const round: Round = { todos: 0, notes: 0, bulks: 0, crowded: 0 }
    if (bound) round.todos = await drained(todosUpTo(bound, forgot))
    if (keeping.days > 0) {
      round.notes = await drained(notes(keeping))
      round.bulks = await drained(bulks(keeping))
    }
    round.crowded = await drained(crowded(keeping))
    if (round.todos + round.notes + round.bulks > 0) log.info(round, 'deleted what is no longer kept')
    return round
  }
}

const todosUpTo = (bound: Bound, forgot: Surroundings['forgot']): Batches => ({
  name: 'forgetTodos',
  run: async (db, among) => {
    const gone = await forgetTodos(db, bound, among)
    db.afterCommit(() => forgot(gone))
    return gone
  },
  find: (db, among) => findForgettable(db, bound, among),
})

const notes = ({ days }: Keeping): Batches => ({
  name: 'forgetNotes',
  run: (db, among) => forgetNotes(db, days, among),
  find: (db, among) => findOldNotes(db, days, among),
})

const bulks = ({ days }: Keeping): Batches => ({
  name: 'forgetBulks',
  run: (db, among) => forgetBulks(db, days, among),
  find: (db, among) => findOldBulks(db, days, among),
})

const crowded = ({ attempts }: Keeping): Batches => ({
  name: 'pruneAttempts',
  run: (db, among) => pruneAttempts(db, attempts, among),
  find: (db, among) => findCrowded(db, attempts, among),
})
