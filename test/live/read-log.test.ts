import { describe, expect, test } from 'vitest'
import type { Position } from '#lib/live/position'
import { endOfLog, readLog } from '#lib/live/read-log'
import { database } from '../support/database'

const { db, session } = database()

const insert = (note: string) => ({
  text: `INSERT INTO todo_events (verb, actor, data) VALUES ('setting', 'system', to_jsonb($1::text))`,
  values: [note],
})

const aged = ({ last, holes }: Position): Position => ({
  last,
  holes: holes.map((hole) => ({ ...hole, foundAt: hole.foundAt - 5000 })),
})

/** Looks until every hole has had the chance to be given up. */
async function settled(position: Position): Promise<Position> {
  const bounded = await readLog(db, aged(position))
  return (await readLog(db, bounded.position)).position
}

describe('a look at the log', () => {
  test('gives up a number that was rolled back', async () => {
    const start = await endOfLog(db)
    await db
      .transaction(async (tx) => {
        await tx.query(insert('taken back'))
        throw new Error('Never mind')
      })
      .catch(() => {})
    await db.query(insert('kept'))
    const { events, position } = await readLog(db, start)
    expect(events.map(({ data }) => data)).toEqual(['kept'])
    expect(position.holes).toHaveLength(1)
    // Not before every transaction of the server that was open then has ended, those of other tests among them.
    let at = position
    await expect
      .poll(async () => {
        at = await settled(at)
        return at.holes
      })
      .toEqual([])
  })

  test('never gives up a number whose transaction is still open, whatever came and went since', async () => {
    const start = await endOfLog(db)
    const [slow, other] = [await session(), await session()]
    await other.query('BEGIN')
    await other.query('SELECT pg_current_xact_id()')
    await slow.query('BEGIN')
    await slow.query(insert('slow'))
    await db.query(insert('quick'))
    let { position } = await readLog(db, start)
    await other.query('COMMIT')
    for (let round = 0; round < 5; round++) {
      await db.query(insert(`round ${round}`))
      position = await settled(position)
    }
    expect(position.holes).toHaveLength(1)

    await slow.query('COMMIT')
    const late = await readLog(db, position)
    expect(late.events.map(({ data }) => data)).toEqual(['slow'])
    expect(late.position.holes).toEqual([])
  })

  test('holds on to a hole of the newest transaction of all, while older ones commit', async () => {
    // The snapshot's own xmax is no bound then: it is the slow transaction's xid, and so is its xmin.
    const start = await endOfLog(db)
    const [older, slow] = [await session(), await session()]
    await older.query('BEGIN')
    await older.query('SELECT pg_current_xact_id()')
    await slow.query('BEGIN')
    await slow.query(insert('slow'))
    await older.query(insert('quick'))
    await older.query('COMMIT')
    const position = await settled((await readLog(db, start)).position)
    await slow.query('COMMIT')
    expect((await readLog(db, position)).events.map(({ data }) => data)).toEqual(['slow'])
  })
})
