import { connect, type Database, type Db } from '#lib/db/connect'

/** A place within a statement at which a process can be ended: before a row of a table is written, or after all are. */
export type Point = `${'before' | 'after'} ${(typeof TABLES)[number]}`

const TABLES = ['todos', 'todo_attempts', 'interrupts', 'effects', 'todo_events'] as const

/** Every place there is; a statement that writes no such table passes it by. */
export const POINTS = TABLES.flatMap((table): Point[] => [`before ${table}`, `after ${table}`])

const GATE = 7_654_321

/** Lets statements of this database be stopped at any point, from now on. */
export async function makeStoppable(db: Db): Promise<void> {
  await db.query({ text: STOP })
  for (const table of TABLES) {
    for (const when of ['before', 'after']) {
      const text = `CREATE TRIGGER stop_${when} ${when} INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION stop('${when}')`
      await db.query({ text })
    }
  }
}

const STOP = `CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('application_name') = 'stops ' || TG_ARGV[0] || ' ' || TG_TABLE_NAME THEN
      PERFORM pg_advisory_xact_lock(${GATE});
    END IF;
    RETURN NEW;
  END $$`

/** What became of a call: its result, or that its process was ended; whether it got to the point at all. */
export interface Fate<Result> {
  reached: boolean
  result: Result | 'ended'
}

interface Doom<Result> {
  point: Point
  call: (db: Database) => Promise<Result>
  /** Ends the call that has got to the point; `pid` is its server process. Unless said, that process is terminated. */
  end?: (pid: number) => Promise<unknown>
  /** Where the call connects to, if not to the database itself. */
  url?: string
}

/** Runs a call on a connection of its own that stops at the point, and ends it there; what was ended has ended when it returns. */
export async function endAt<Result>(
  db: Database,
  { point, call, end, url = db.url }: Doom<Result>,
): Promise<Fate<Result>> {
  const own = connect({ databaseUrl: url, max: 1, applicationName: `stops ${point}` })
  try {
    return await db.transaction(async (gate) => {
      await gate.query({ text: `SELECT pg_advisory_xact_lock(${GATE})` })
      let isOver = false
      const calling = call(own).then(
        (result) => ({ result }),
        (error: { code?: string }) => ({ error }),
      )
      void calling.then(() => {
        isOver = true
      })
      let pid: number | undefined
      while (!isOver && pid === undefined) pid = await stopped(db)
      if (pid !== undefined) await (end ?? terminate(db))(pid)
      const outcome = await calling
      if ('result' in outcome) return { reached: pid !== undefined, result: outcome.result }
      if (pid === undefined) throw outcome.error
      return { reached: true, result: 'ended' }
    })
  } finally {
    await own.close()
    while (await isThere(db, `stops ${point}`));
  }
}

const terminate = (db: Db) => (pid: number) =>
  db.query({ text: 'SELECT pg_terminate_backend($1, 5000)', values: [pid] })

async function stopped(db: Db): Promise<number | undefined> {
  const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`
  return (await db.query<{ pid: number }>({ text }))[0]?.pid
}

async function isThere(db: Db, name: string): Promise<boolean> {
  const text = 'SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1'
  return (await db.query({ text, values: [name] })).length > 0
}

/** A door that its process no longer uses after so many statements: the next is never sent (or, `answerLost`, never heard of). */
export function dying(
  db: Database,
  statements: number,
  { answerLost = false } = {},
): { door: Database; died: () => boolean } {
  let left = statements
  let died = false
  const dies = <At extends Db>(at: At): At => ({
    ...at,
    query: async <Row>(statement: Parameters<Db['query']>[0]) => {
      if (left === 0) died = true
      if (left < 0 || (left === 0 && !answerLost)) throw new Error('the process has ended')
      left -= 1
      const rows = await at.query<Row>(statement)
      if (left < 0) throw new Error('the process has ended')
      return rows
    },
    // One that is under way when the process ends is rolled back.
    transaction: <Result>(work: (tx: Db) => Promise<Result>) => at.transaction((tx) => work(dies(tx))),
    root: db.root,
  })
  const door = dies(db)
  return { door, died: () => died }
}
