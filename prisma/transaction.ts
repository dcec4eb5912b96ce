import { setTimeout as pause } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import { lockTransaction, type Say } from './lock'

/** How patient a transaction is with tables that other sessions use. */
export interface Patience {
  say: Say
  lockTimeoutMs: number
}

const TRIES = 20
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Runs `work` in a transaction that holds the migration lock: committed when it returns, rolled back when it throws.
 * A table lock that is not granted soon is given up and asked for again, some twenty times: while it waits, every other
 * statement on that table waits behind it, and one long report would stop the whole queue.
 */
export async function transaction<T>(client: Client, patience: Patience, work: () => Promise<T>): Promise<T> {
  const { say, lockTimeoutMs } = patience
  for (let tries = 1; tries <= TRIES; tries++) {
    try {
      return await once(client, lockTimeoutMs, work)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      say(`a table is in use by another session; trying again (${tries} of ${TRIES})`)
      await pause(lockTimeoutMs / 4)
    }
  }
  throw new Error('A table stayed in use by another session. Find it in pg_stat_activity, end it and migrate again.')
}

async function once<T>(client: Client, lockTimeoutMs: number, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  try {
    await client.query('SET LOCAL statement_timeout = 0')
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0')
    await client.query('SET LOCAL lock_timeout = 0')
    await lockTransaction(client)
    await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Runs one file's SQL; an error names the file and the line. */
export async function runSql(client: Client, file: string, sql: string): Promise<void> {
  try {
    await client.query(sql)
  } catch (error) {
    if (error instanceof DatabaseError && !isLockTimeout(error)) error.message = explain(file, sql, error)
    throw error
  }
}

function explain(file: string, sql: string, error: DatabaseError): string {
  const line = error.position ? `:${sql.slice(0, Number(error.position)).split('\n').length}` : ''
  const more = [error.detail, error.hint].filter(Boolean).map((text) => `\n  ${text}`)
  return `${file}${line}: ${error.message}${more.join('')}\nNothing of this migration was kept.`
}

const isLockTimeout = (error: unknown): boolean => error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE
