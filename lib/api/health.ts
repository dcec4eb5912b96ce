import { readSettings, type Settings } from '#lib/queue/settings'
import type { Core } from './core'
import { type Tick, workerTick } from './worker-tick'
import { recentRevision } from './writable'

/** One part that must be well: how it stands, in a few words, and what to do when it isn't. */
export interface Fact {
  name: string
  standing: 'good' | 'warning' | 'bad'
  fact: string
  advice?: string
}

const PATIENCE_MS = 2000
// A tick comes every 30 s at the latest; one more half for a slow one.
const LATE_SECONDS = 45

/** How the parts stand, and the settings in force where the database could be asked. */
export interface Health {
  facts: Fact[]
  settings: Settings | null
}

/** How database, migrations, notifications and worker stand now; never throws, and takes some two seconds at most. */
export async function readHealth({ database, live }: Core): Promise<Health> {
  const [answered, revision, tick, settings] = await Promise.all([
    databaseFact(database),
    revisionFact(database),
    within(workerTick(database)).catch((error: Error) => error),
    within(readSettings(database)).catch(() => null),
  ])
  return { facts: [answered, revision, listenerFact(live.isListening), workerFact(tick)], settings }
}

async function databaseFact(database: Core['database']): Promise<Fact> {
  const name = 'Database'
  const began = performance.now()
  try {
    const text = "SELECT split_part(current_setting('server_version'), ' ', 1) AS version"
    const [row] = await within(database.query<{ version: string }>({ name: 'server_version', text }))
    const took = Math.max(1, Math.round(performance.now() - began))
    return { name, standing: 'good', fact: `PostgreSQL ${row?.version}, answers in ${took}\u00a0ms` }
  } catch (error) {
    const advice = 'Nothing is lost: workers and reaper go on when it is back. Its log is the place to look.'
    return { name, standing: 'bad', fact: `Does not answer: ${messageOf(error)}`, advice }
  }
}

async function revisionFact(database: Core['database']): Promise<Fact> {
  const name = 'Migrations'
  try {
    const { build, database: found, matches } = await within(recentRevision(database))
    if (matches) return { name, standing: 'good', fact: `Up to date: ${build.replace(/^\d+_/, '')}` }
    const advice = 'Writes are refused until both are the same: run npm run migrate -- up, or the newer build.'
    return { name, standing: 'bad', fact: `This build knows ${build}, the database is at ${found ?? 'none'}`, advice }
  } catch {
    return { name, standing: 'warning', fact: 'Not known while the database is away' }
  }
}

function listenerFact(isListening: boolean): Fact {
  const name = 'Notifications'
  if (isListening) return { name, standing: 'good', fact: 'Arrive at once' }
  const advice = 'A transaction pooler or a standby does not pass them on: point DATABASE_URL at the server itself.'
  return { name, standing: 'warning', fact: 'Do not arrive; the log is polled instead', advice }
}

function workerFact(tick: Tick | Error): Fact {
  const name = 'Worker'
  const advice =
    'Without it nothing lapsed comes back to the queue. npm start keeps it running; its log says why it is not.'
  if (tick instanceof Error) return { name, standing: 'bad', fact: `Does not answer: ${messageOf(tick)}`, advice }
  if (!tick.isReady) return { name, standing: 'bad', fact: 'Runs, but does not sweep', advice }
  const { secondsAgo } = tick
  if (secondsAgo === null) return { name, standing: 'warning', fact: 'Runs, and has not swept yet' }
  const standing = secondsAgo <= LATE_SECONDS ? 'good' : 'warning'
  return { name, standing, fact: `Swept ${secondsAgo} s ago`, ...(standing === 'warning' && { advice }) }
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0])
  const { message, cause } = error as Error
  return cause instanceof Error ? messageOf(cause) : message
}

async function within<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${PATIENCE_MS / 1000} s`)), PATIENCE_MS)
  })
  try {
    return await Promise.race([work, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
