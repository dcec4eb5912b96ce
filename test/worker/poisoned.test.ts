import { beforeEach, describe, expect, test } from 'vitest'
import { claim } from '#lib/queue/claim'
import { enqueue } from '#lib/queue/enqueue'
import { createSkips } from '#worker/skips'
import { tick } from '#worker/tick'
import { database } from '../support/database'
import { type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { recordedLog } from '../support/recorded-log'

const { db, sql } = database()

const DAY = 86_400
const { log, lines } = recordedLog()
let skips = createSkips()
beforeEach(async () => {
  skips = createSkips()
  lines.length = 0
  await sql`TRUNCATE todos, todo_attempts, todo_events, settings CASCADE`
})

const ticked = () => tick({ database: db, skips, ranAt: new Map(), log, signal: new AbortController().signal })

describe('a row that cannot be moved', () => {
  /** Makes the table refuse every update of such a row, with this SQLSTATE. */
  const refuseUpdates = async (when: string, sqlState = 'P0001') => {
    await db.query({
      text: `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${sqlState}'; END $$`,
    })
    await db.query({
      text: `CREATE TRIGGER refuse BEFORE UPDATE ON todos FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse()`,
    })
  }
  const refuseNoLonger = () => db.query({ text: 'DROP TRIGGER refuse ON todos' })

  test('is logged with its id and left alone for a second, and stops no other row', async () => {
    let clock = 0
    skips = createSkips(() => clock)
    const lapsed = []
    for (let n = 0; n < 9; n++) lapsed.push(await given(db, 'claimed', { ago: { lease_expires_at: 1 } }))
    const poisoned = lapsed[4] as Given
    await refuseUpdates(`OLD.id = '${poisoned.id}'`)

    const first = await ticked()
    expect(first).toMatchObject({ expiries: 8, isHeldUp: true })
    expect(first.failures.size).toBe(0)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      level: 50,
      todo_id: poisoned.id,
      sweep: 'expireLease',
      err: { message: 'refused' },
    })

    await refuseNoLonger()
    clock = 999
    expect((await ticked()).expiries).toBe(0)
    clock = 1001
    expect((await ticked()).expiries).toBe(1)
    expect((await now(db, poisoned.id)).state).toBe('pending')
  })

  test('is never blamed for a fault that is no row’s, which stops no other step', async () => {
    const lapsed = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    const asked = await given(db, 'input-required', { ago: { interrupted_at: DAY + 1 } })
    await refuseUpdates(`OLD.state = 'claimed'`, '53100')
    const { expiries, failures, isHeldUp } = await ticked()
    await refuseNoLonger()
    expect(expiries).toBe(1)
    expect((await now(db, asked.id)).state).toBe('pending')
    expect([...failures.keys()]).toEqual(['expireLease'])
    expect(isHeldUp).toBe(true)
    expect(lines).toEqual([])
    expect((await ticked()).expiries).toBe(1)
    expect((await now(db, lapsed.id)).state).toBe('pending')
  })

  test('does not make a tick try row after row for ever when none of them can be moved', async () => {
    const titles = Array.from({ length: 150 }, (_, n) => ({ queue: 'cursed', title: `Todo ${n}` }))
    await enqueue(db, titles, OPERATOR)
    for (const limit of [100, 50]) await claim(db, { queues: ['cursed'], limit }, WORKER)
    await sql`UPDATE todos SET lease_expires_at = now() - interval '1 s'`
    await refuseUpdates('true')
    const { failures } = await ticked()
    await refuseNoLonger()
    expect([...failures.keys()]).toEqual(['expireLease'])
    expect(lines).toHaveLength(100)
  })
})
