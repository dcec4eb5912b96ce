import type { Db } from '#lib/db/connect'
import type { Revision } from '#lib/db/revision'
import { within } from '#lib/db/within'
import { readSettings, type Settings } from '#lib/queue/settings'
import type { Core } from './core'
import { type WorkerStanding, workerStanding } from './worker-standing'
import { recentRevision } from './writable'

/** One part that must be well: how it stands, in a few words, and what to do when it isn't. */
export interface Fact {
  name: string
  standing: 'good' | 'warning' | 'bad'
  fact: string
  advice?: string
}

/** How the parts stand, and the settings in force where the database could be asked. */
export interface Health {
  facts: Fact[]
  settings: Settings | null
}

const PATIENCE_MS = 2000
// A tick comes every 30 s at the latest; half of that for a slow one.
const LATE_SECONDS = 45

/** How database, migrations, notifications and worker stand now; never throws, and takes four seconds at most, two when the database is away. */
export async function readHealth({ database, live }: Core): Promise<Health> {
  const [answered, worker] = await Promise.all([tried(askDatabase(database)), tried(workerStanding())])
  if (answered instanceof Error) {
    const facts = [databaseFact(answered), UNKNOWN_REVISION, UNKNOWN_LISTENER, workerFact(worker, Date.now())]
    return { facts, settings: null }
  }
  const [revision, settings] = await Promise.all([tried(recentRevision(database)), tried(readSettings(database))])
  const facts = [
    databaseFact(answered),
    revision instanceof Error ? UNKNOWN_REVISION : revisionFact(revision),
    listenerFact(live.isListening),
    workerFact(worker, Date.parse(answered.now)),
  ]
  return { facts, settings: settings instanceof Error ? null : settings }
}

const UNKNOWN = { standing: 'warning', fact: 'Not known while the database is away' } as const
const UNKNOWN_REVISION: Fact = { name: 'Migrations', ...UNKNOWN }
const UNKNOWN_LISTENER: Fact = { name: 'Notifications', ...UNKNOWN }

const tried = <Result>(work: Promise<Result>): Promise<Result | Error> =>
  within(PATIENCE_MS, work).catch((error: Error) => error)

interface Answered {
  version: string
  now: string
  tookMs: number
}

async function askDatabase(db: Db): Promise<Answered> {
  const began = performance.now()
  const text = "SELECT split_part(current_setting('server_version'), ' ', 1) AS version, now() AS now"
  const [row] = await db.query<Omit<Answered, 'tookMs'>>({ name: 'server_version', text })
  if (!row) throw new Error('it answered nothing')
  return { ...row, tookMs: Math.max(1, Math.round(performance.now() - began)) }
}

function databaseFact(answered: Answered | Error): Fact {
  const name = 'Database'
  if (!(answered instanceof Error)) {
    return { name, standing: 'good', fact: `PostgreSQL ${answered.version}, ${answered.tookMs}\u00a0ms away` }
  }
  const advice = 'Nothing is lost: everything goes on once it is back. Its log is the place to look.'
  return { name, standing: 'bad', fact: `Does not answer: ${messageOf(answered)}`, advice }
}

function revisionFact({ build, database, matches }: Revision): Fact {
  const name = 'Migrations'
  if (matches) return { name, standing: 'good', fact: `Up to date: ${build.replace(/^\d+_/, '')}` }
  const advice = 'Writes are refused until both are the same: run npm run migrate -- up, or the newer build.'
  return { name, standing: 'bad', fact: `This build knows ${build}, the database is at ${database ?? 'none'}`, advice }
}

function listenerFact(isListening: boolean): Fact {
  const name = 'Notifications'
  if (isListening) return { name, standing: 'good', fact: 'Arrive at once' }
  const advice = 'A transaction pooler or a standby does not pass them on: point DATABASE_URL at the server itself.'
  return { name, standing: 'warning', fact: 'Do not arrive; the log is polled instead', advice }
}

function workerFact(worker: WorkerStanding | Error, now: number): Fact {
  const name = 'Worker'
  if (worker instanceof Error) {
    const advice =
      'Without it, nothing whose time has run out goes back to the queue. Its log says why it is not there.'
    return { name, standing: 'bad', fact: `Does not answer: ${messageOf(worker)}`, advice }
  }
  const { reason, lastTickAt } = worker
  if (reason !== null || lastTickAt === null) {
    return { name, standing: 'bad', fact: `Does not sweep: ${reason ?? 'it has not begun'}` }
  }
  const secondsAgo = Math.max(0, Math.round((now - Date.parse(lastTickAt)) / 1000))
  return { name, standing: secondsAgo <= LATE_SECONDS ? 'good' : 'warning', fact: `Swept ${secondsAgo} s ago` }
}

function messageOf(error: Error): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0])
  return error.cause instanceof Error ? messageOf(error.cause) : error.message
}
