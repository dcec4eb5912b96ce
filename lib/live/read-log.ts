import type { Db } from '#lib/db/connect'
import { EVENT_COLUMNS, type Event } from '#lib/wire/event'
import type { Card } from '#lib/wire/todo'
import { cardColumns, cardOf } from '#lib/wire/todo-row'
import { advance, gaps, type Position } from './position'

/** How many events one look reads at most. */
const LOOK_EVENTS = 500

// Holes further back than this many events belong to transactions nobody waits for any more.
const TAIL_EVENTS = 10_000

/** What a look found, and the position after it. */
export interface Found {
  events: Event[]
  position: Position
  isWhole: boolean
  /** The highest id of an event that has been deleted; beyond the position it was read from, some were never told. */
  forgotten: number
}

/** SQL for the highest id of an event that has been deleted. */
export const FORGOTTEN = 'coalesce((SELECT max(forgotten) FROM event_log), 0)'

const COLUMNS = EVENT_COLUMNS.map((column) => `e.${column}`).join(', ')

// One snapshot tells which events are there and which transactions were open then. The next xid is read after it was
// taken: the snapshot's own xmax may lie below transactions that are open already.
const READ = `SELECT ${COLUMNS}, pg_snapshot_xmin(s.snap)::text::bigint AS snap_xmin,
    pg_snapshot_xmax(s.snap)::text::bigint + age(pg_snapshot_xmax(s.snap)::xid) AS next_xid, ${FORGOTTEN} AS forgotten
  FROM (SELECT pg_current_snapshot() AS snap) s LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT f.* FROM unnest($2::bigint[], $3::bigint[]) AS h(first, last) CROSS JOIN LATERAL (
        SELECT * FROM todo_events e WHERE e.id BETWEEN h.first AND h.last ORDER BY e.id LIMIT ${LOOK_EVENTS}) f
      UNION ALL
      (SELECT * FROM todo_events e WHERE e.id > $1 ORDER BY e.id LIMIT ${LOOK_EVENTS})) u
    ORDER BY u.id LIMIT ${LOOK_EVENTS}) e ON true`

/** Every event that is there beyond a position, in log order, up to a limit: once for each position that came of it. */
export async function readLog(db: Db, position: Position): Promise<Found> {
  const { last, holes } = position
  const rows = await db.query<Event & { snap_xmin: number; next_xid: number; forgotten: number }>({
    name: 'read_log',
    text: READ,
    values: [last, holes.map((hole) => hole.first), holes.map((hole) => hole.last)],
  })
  const events = rows.filter(({ id }) => id !== null).map(({ snap_xmin, next_xid, forgotten, ...event }) => event)
  const [{ snap_xmin: xmin, next_xid: nextXid, forgotten }] = rows as [(typeof rows)[number]]
  const isWhole = events.length < LOOK_EVENTS
  const ids = events.map(({ id }) => id)
  const look = { ids, xmin, nextXid, isWhole, at: performance.now() }
  return { events, isWhole, forgotten, position: advance(position, look) }
}

/** The position at the end of the log: what commits from now on lies beyond it, even under a number taken before. */
export async function endOfLog(db: Db): Promise<Position> {
  const tail = await db.query<{ id: number; forgotten: number }>({
    name: 'end_of_log',
    text: `SELECT f.forgotten, e.id FROM (SELECT ${FORGOTTEN} AS forgotten) f
      LEFT JOIN LATERAL (SELECT id FROM todo_events ORDER BY id DESC LIMIT ${TAIL_EVENTS}) e ON true`,
  })
  const ids = tail.flatMap(({ id }) => id ?? []).reverse()
  return { last: Math.max(ids.at(-1) ?? 0, tail[0]?.forgotten ?? 0), holes: gaps(ids, performance.now()) }
}

/** The cards of todos as they are now, by id; those deleted are missing. */
export async function cardsOf(db: Db, ids: readonly string[]): Promise<Map<string, Card>> {
  if (ids.length === 0) return new Map()
  const rows = await db.query({
    name: 'cards_of',
    text: `SELECT ${cardColumns('t')} FROM todos t WHERE t.id = ANY($1)`,
    values: [[...new Set(ids)]],
  })
  return new Map(rows.map((row) => [row.id as string, cardOf(row)]))
}
