import { beforeEach, describe, expect, test } from 'vitest'
import type { State } from '#lib/model/states'
import { cardColumns, cardOf } from '#lib/wire/todo-row'
import { createAlarm } from '#worker/alarm'
import { clockOf, LONGEST_SLEEP_SECONDS, readClocks } from '#worker/clocks'
import { database } from '../support/database'
import { type Circumstances, given } from '../support/given'

const { db, sql } = database()

beforeEach(() => sql`TRUNCATE todos, todo_attempts, todo_events, queues CASCADE`)

const TTL = 600
const TTLS = { held: TTL, parked: 1200 }

const look = (said: { ttls?: typeof TTLS; except?: string[]; since?: string | null } = {}) =>
  readClocks(db, { ttls: TTLS, except: [], since: null, ...said })

const card = async (id: string) => {
  const [row] = await db.query({ text: `SELECT ${cardColumns('t')} FROM todos t WHERE id = $1`, values: [id] })
  return cardOf(row ?? {})
}

const inSeconds = (clocks: { wakeInMs: number }) => Math.round(clocks.wakeInMs / 1000)

describe('the next clock', () => {
  const CLOCKS: [string, State, Circumstances, number | null][] = [
    ['the end of a lease', 'claimed', { ago: { lease_expires_at: -20 } }, 20],
    ['the end of a lapsed lease', 'claimed', { ago: { lease_expires_at: 5 } }, -5],
    ['the deadline of a held question', 'input-required', { ago: { interrupted_at: TTL - 12 } }, 12],
    [
      'the deadline of a parked question',
      'input-required',
      { question: { mode: 'park' }, ago: { interrupted_at: 1200 - 11 } },
      11,
    ],
    ['the time a question was given beyond that', 'auth-required', { ago: { interrupted_at: TTL, wait_until: -7 } }, 7],
    ['the end of a delay', 'pending', { ago: { available_at: -9 } }, 9],
    ['none for a todo that is ready', 'pending', {}, null],
    ['none for one that has ended', 'completed', {}, null],
    ['none for one that waits for children', 'waiting', {}, null],
  ]

  test.each(CLOCKS)('is %s', async (_, state, circumstances, seconds) => {
    const { id } = await given(db, state, circumstances)
    if (state === 'waiting') await sql`DELETE FROM todos WHERE parent_id IS NOT NULL`
    const clocks = await look()
    expect(inSeconds(clocks)).toBe(seconds ?? LONGEST_SLEEP_SECONDS)
    const clock = clockOf(await card(id), TTLS)
    if (seconds === null) expect(clock).toBeNull()
    else expect(Math.abs(Date.parse(clock as string) - Date.parse(clocks.wakeAt))).toBeLessThanOrEqual(1)
  })

  test('is now for a pending todo without an attempt left', async () => {
    const { id } = await given(db, 'pending', { failures: 2 })
    await sql`UPDATE todos SET max_attempts = 2 WHERE id = ${id}`
    const clocks = await look()
    expect(clocks.wakeInMs).toBeLessThanOrEqual(0)
    expect(clockOf(await card(id), TTLS)).toBe(clocks.wakeAt)
  })

  test('is the earliest of all, and at most half a minute off', async () => {
    await given(db, 'claimed', { ago: { lease_expires_at: -25 } })
    await given(db, 'input-required', { ago: { interrupted_at: TTL - 15 } })
    await given(db, 'pending', { ago: { available_at: -20 } })
    await given(db, 'claimed', { ago: { lease_expires_at: -4000 } })
    expect(inSeconds(await look())).toBe(15)
    expect(inSeconds(await look({ ttls: { held: 0, parked: 0 } }))).toBe(20)
  })

  test('leaves out what is to be left alone, and the delays of paused queues', async () => {
    const { id } = await given(db, 'claimed', { ago: { lease_expires_at: 5 } })
    await given(db, 'pending', { todo: { queue: 'paused' }, ago: { available_at: -5 } })
    await sql`UPDATE queues SET paused = true WHERE name = 'paused'`
    expect(inSeconds(await look({ except: [id] }))).toBe(LONGEST_SLEEP_SECONDS)
  })

  test('sees a delay behind more delays of a paused queue than it reads', async () => {
    await given(db, 'pending', { todo: { queue: 'paused' } })
    await given(db, 'pending', { todo: { queue: 'open' }, ago: { available_at: -20 } })
    await sql`UPDATE queues SET paused = true WHERE name = 'paused'`
    await sql`INSERT INTO todos (id, queue, title, max_attempts, lease_seconds, available_at)
      SELECT 'paused-' || n, 'paused', 'Later', 3, 300, now() + interval '5 s' FROM generate_series(1, 150) n`
    expect(inSeconds(await look())).toBe(5)
  })
})

describe('a look', () => {
  test('tells whether something came due since the last one', async () => {
    const first = await look()
    expect((await look({ since: first.now })).cameDue).toBe(false)
    const { id } = await given(db, 'pending', { ago: { available_at: -3600 } })
    const second = await look({ since: first.now })
    expect(second.cameDue).toBe(false)
    await sql`UPDATE todos SET available_at = now() WHERE id = ${id}`
    expect((await look({ since: second.now })).cameDue).toBe(true)
  })

  test('reads live rows only, by partial indexes, however many have ended', async () => {
    await sql`INSERT INTO todos (id, queue, title, max_attempts, lease_seconds, state, completed_at)
      SELECT 'ended-' || n, 'main', 'Done', 3, 300, 'completed', now() FROM generate_series(1, 20000) n`
    await sql`ANALYZE todos`
    const before = await scans()
    for (let round = 0; round < 10; round++) await look({ since: '2026-01-01T00:00:00.000Z' })
    expect((await scans()).sequential - before.sequential).toBe(0)
  })

  const scans = async () => {
    await sql`SELECT pg_stat_force_next_flush()`
    const [row] = await sql<{
      sequential: number
    }>`SELECT seq_scan AS sequential FROM pg_stat_user_tables WHERE relname = 'todos'`
    return row as { sequential: number }
  }
})

describe('the alarm', () => {
  const at = (seconds: number) => `2026-01-01T00:00:${String(seconds).padStart(2, '0')}.000Z`

  test('wakes for an earlier clock only', () => {
    let woken = 0
    const alarm = createAlarm(() => woken++)
    alarm.clear()
    alarm.set(at(30))
    alarm.hear(at(40))
    alarm.hear(at(30))
    alarm.hear(null)
    expect(woken).toBe(0)
    alarm.hear(at(20))
    expect(woken).toBe(1)
  })

  test('remembers what it hears while the look is under way', () => {
    let woken = 0
    const alarm = createAlarm(() => woken++)
    alarm.set(at(30))
    alarm.clear()
    alarm.hear(at(10))
    expect(woken).toBe(0)
    alarm.set(at(20))
    expect(woken).toBe(1)
    alarm.clear()
    alarm.set(at(20))
    expect(woken).toBe(1)
  })
})
