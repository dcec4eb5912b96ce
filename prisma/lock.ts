import type { Client, ClientBase } from 'pg'

/** The advisory lock of Prisma's CLI and of this runner, exclusive; the worker's sweeps take it shared. */
export const MIGRATION_LOCK = 72707369

/** Takes one line of progress. */
export type Say = (line: string) => void

/**
 * Runs `work` while no other process migrates and no sweep runs; says so when it has to wait.
 * Through a transaction pooler a session's lock would land on a connection that others share, so there the
 * transactions' own locks (see `lockTransaction`) have to do.
 */
export async function exclusively<T>(client: Client, say: Say, work: () => Promise<T>): Promise<T> {
  if (await isPooled(client)) return work()
  await client.query('SET statement_timeout = 0')
  const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK])
  if (!rows[0].taken) {
    say(`waiting for ${await holders(client)} to let go of the migration lock`)
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
  }
  try {
    return await work()
  } finally {
    // A broken connection has let go by itself; the error that broke it is the one to report.
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => {})
  }
}

/** Takes the same lock for the current transaction; at once when `exclusively` holds it. */
export async function lockTransaction(client: ClientBase): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
}

// A pooler makes up the process id it gives its clients, for it must be able to pass cancel requests on.
async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return (client as Client & { processID: number }).processID !== rows[0].pid
}

async function holders(client: Client): Promise<string> {
  const { rows } = await client.query(
    `SELECT DISTINCT format('%s (process %s)', coalesce(nullif(a.application_name, ''), 'another session'), a.pid) AS who
     FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = $1::bigint::oid AND l.objsubid = 1
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [MIGRATION_LOCK],
  )
  return rows.map((row) => row.who).join(', ') || 'another process'
}
