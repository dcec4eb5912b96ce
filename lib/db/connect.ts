import pg from 'pg'

/** SQL with a fixed text under a name (prepared once a connection) and its parameters. */
export interface Statement {
  name?: string
  text: string
  values?: unknown[]
}

/** The door to PostgreSQL: the pool, or one transaction of it. Times come back as ISO 8601 UTC with milliseconds, 64-bit counts as numbers. */
export interface Db {
  /** Runs one statement and returns its rows; outside a transaction it commits by itself. */
  query<Row = Record<string, unknown>>(statement: Statement): Promise<Row[]>
  /** Runs `work` in one transaction: committed when it returns, rolled back when it throws. Inside a transaction it just runs. */
  transaction<Result>(work: (db: Db) => Promise<Result>): Promise<Result>
  /** Calls `act` once what is being written has committed; never when it is rolled back. Outside a transaction, now. */
  afterCommit(act: () => void): void
  /** The pool behind it. */
  readonly root: Database
}

/** The pool's own door, which its process closes when it ends. */
export interface Database extends Db {
  readonly pool: pg.Pool
  readonly url: string
  close(): Promise<void>
}

export interface ConnectOptions {
  databaseUrl: string
  /** Connections at most; 10 unless said. */
  max?: number
  /** What the server shows as application_name. */
  applicationName?: string
}

/** Opens a pool on `databaseUrl`; it connects when first used, and errors of idle connections never end the process. */
export function connect({ databaseUrl, max = 10, applicationName = 'switchboard' }: ConnectOptions): Database {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // A generic plan is made once and kept; a custom one is planned anew at every call (1.7 to 3.8 times slower). A plan
    // whose cost looks high is compiled anew at every call (a claim among limited queues: 370 ms of it, 1 ms without).
    options: '-c timezone=UTC -c plan_cache_mode=force_generic_plan -c jit=off -c statement_timeout=60000',
  })
  pool.on('error', () => {})
  // One that is lost while lent, between two statements, tells nobody else; the next statement on it fails by itself.
  pool.on('connect', (client) => client.on('error', () => {}))
  const database: Database = {
    ...runner((statement) => run(pool, statement)),
    transaction: (work) => inTransaction(database, work),
    afterCommit: (act) => act(),
    pool,
    url: databaseUrl,
    close: () => pool.end(),
    get root() {
      return database
    },
  }
  return database
}

type Run = (statement: Statement) => Promise<pg.QueryResult>

const run = (client: pg.Pool | pg.PoolClient, statement: Statement): Promise<pg.QueryResult> =>
  client.query({ ...statement, types: TYPES })

const runner = (send: Run): Pick<Db, 'query'> => ({
  query: async <Row>(statement: Statement) => (await send(statement)).rows as Row[],
})

async function inTransaction<Result>(root: Database, work: (db: Db) => Promise<Result>): Promise<Result> {
  const client = await root.pool.connect()
  const acts: (() => void)[] = []
  const db: Db = {
    ...runner((statement) => run(client, statement)),
    transaction: (inner) => inner(db),
    afterCommit: (act) => void acts.push(act),
    root,
  }
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await work(db)
    const { command } = await client.query('COMMIT')
    // Once a statement has failed, and somebody caught that, PostgreSQL answers COMMIT by rolling back, without an error.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement in it had failed')
    for (const act of acts) act()
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: Error) => {
      broken = failure
    })
    throw error
  } finally {
    client.release(broken)
  }
}

const TIMESTAMPTZ = 1184
const INT8 = 20

const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === TIMESTAMPTZ) return isoTime
    if (oid === INT8) return Number
    return pg.types.getTypeParser(oid, format as 'text')
  }) as pg.CustomTypesConfig['getTypeParser'],
}

// The session's zone is UTC, so the text is always of the form 2026-11-30 21:58:27.123456+00.
const isoTime = (text: string): string =>
  `${text.slice(0, 10)}T${text.slice(11, 19)}.${/\.(\d{1,3})/.exec(text)?.[1]?.padEnd(3, '0') ?? '000'}Z`
