import type pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { connect, type Database } from '#lib/db/connect'
import { type Scratch, scratch } from './scratch'

/** Runs one statement of the test's own (to arrange or to look) and gives its rows; values become parameters. */
export type Sql = <Row = pg.QueryResultRow>(text: TemplateStringsArray, ...values: unknown[]) => Promise<Row[]>

/** What a test file gets: its own migrated, empty database, the product's door to it, and a way to look behind it. */
export interface TestDatabase extends Pick<Scratch, 'url' | 'session'> {
  db: Database
  sql: Sql
}

/**
 * Call once at the top of a test file. The database exists from the first hook on and is dropped after the file, which
 * fails when a connection is open then that neither `db` nor `session` made.
 */
export function database({ max = 10 }: { max?: number } = {}): TestDatabase {
  const { url, session, create, drop } = scratch('migrated')
  const db = connect({ databaseUrl: url, max, applicationName: 'test-db' })
  beforeAll(create)
  afterAll(async () => {
    await db.close()
    await drop()
  })
  return { url, session, db, sql: (text, ...values) => db.query({ text: statement(text), values }) }
}

const statement = (text: TemplateStringsArray) => text.reduce((sql, part, index) => `${sql}$${index}${part}`)
