import type { Db } from '#lib/db/connect'
import { AMONG, type Among, amongParams } from './expire'
import type { Settings } from './settings'

/** How many rows one statement of retention takes. */
const RETENTION_ROWS = 1000

/** Where in the order of their ends the todos lie that are no longer kept: this one and all that ended before it. */
export interface Bound {
  /** As the database writes it, to the microsecond. */
  endedAt: string
  id: string
}

// As the planner knows how many rows there are: by how many pages the index has now, and how full they were when last looked
// at. That may have been before anything had ended, so at least as full as pages are with our ids (136 entries at most). A full
// count of what has ended would read it all.
const ENDED_ESTIMATE = `SELECT greatest(c.reltuples / nullif(c.relpages, 0), 150)
    * (pg_relation_size(c.oid) / current_setting('block_size')::int) AS estimate
  FROM pg_class c WHERE c.oid = to_regclass('todos_ended')`

// Below this share of the rows allowed nobody looks closer.
const SURELY_FEWER = 0.8

/** The newest of those beyond so many ended todos; null when there are no more than that, or the number is 0. */
export async function boundByRows(db: Db, rows: number): Promise<Bound | null> {
  if (rows <= 0) return null
  const [known] = await db.query<{ estimate: number }>({ name: 'ended_estimate', text: ENDED_ESTIMATE })
  if (known && known.estimate < rows * SURELY_FEWER) return null
  const [bound] = await db.query<Bound>({
    name: 'ended_beyond',
    text: `SELECT completed_at::text AS "endedAt", id FROM todos WHERE completed_at IS NOT NULL
      ORDER BY completed_at DESC, id DESC OFFSET $1 LIMIT 1`,
    values: [rows],
  })
  return bound ?? null
}

/** What is no longer kept by age, or by the other bound if that lies later; null when neither says anything. */
export async function laterBound(db: Db, days: number, other: Bound | null): Promise<Bound | null> {
  if (days <= 0) return other
  const [bound] = await db.query<Bound>({
    name: 'later_bound',
    text: `SELECT at::text AS "endedAt", id FROM (VALUES (now() - make_interval(days => $1), ''), ($2::timestamptz, $3::text)) b(at, id)
      WHERE at IS NOT NULL ORDER BY at DESC, id DESC LIMIT 1`,
    values: [days, other?.endedAt ?? null, other?.id ?? null],
  })
  return bound ?? null
}

/** A todo that has been deleted. */
export interface Forgotten {
  id: string
  queue: string
  state: string
}

interface Candidate {
  id: string
  /** Null when it has none, or that is deleted. */
  parent_id: string | null
}

// The parent is looked up one by one: joined, the planner might read every live todo for it.
const candidatesSql = (
  limit: number,
): string => `SELECT t.id, (SELECT p.id FROM todos p WHERE p.id = t.parent_id) AS parent_id FROM todos t
  WHERE t.completed_at IS NOT NULL AND (t.completed_at, t.id) <= ($4::timestamptz, $1::text) AND ${AMONG}
    AND (t.parent_id IS NULL OR coalesce((SELECT p.completed_at IS NOT NULL FROM todos p WHERE p.id = t.parent_id), true))
  ORDER BY t.completed_at, t.id LIMIT ${limit}`

const CANDIDATES = candidatesSql(RETENTION_ROWS)

const candidates = (db: Db, { endedAt, id }: Bound, among: Among): Promise<Candidate[]> =>
  db.query<Candidate>({ name: 'forgettable', text: CANDIDATES, values: [id, ...amongParams(among), endedAt] })

/** How many todos the next round would delete up to a bound; so many are counted at most. */
export async function countForgettable(db: Db, bound: Bound | null, most: number): Promise<number> {
  if (!bound) return 0
  const text = `SELECT count(*) AS count FROM (${candidatesSql(most)}) c`
  const [row] = await db.query<{ count: number }>({ text, values: [bound.id, ...amongParams({}), bound.endedAt] })
  return row?.count ?? 0
}

/** The ids of the next batch, locked or not. */
export const findForgettable = async (db: Db, bound: Bound, among: Among): Promise<string[]> =>
  (await candidates(db, bound, among)).map(({ id }) => id)

/**
 * Deletes one batch of ended todos up to a bound, the oldest first, with all that belongs to them. Those with a live parent
 * stay, and those that somebody has locked, or whose parent is.
 */
export function forgetTodos(db: Db, bound: Bound, among: Among = {}): Promise<Forgotten[]> {
  return db.transaction(async (tx) => {
    const found = await candidates(tx, bound, among)
    if (found.length === 0) return []
    const ended = await lockEnded(
      tx,
      found.flatMap(({ id, parent_id }) => (parent_id ? [id, parent_id] : [id])),
    )
    const gone = found.filter(({ id, parent_id }) => ended.has(id) && (parent_id === null || ended.has(parent_id)))
    return tx.query<Forgotten>({ name: 'forget_todos', text: FORGET_TODOS, values: [gone.map(({ id }) => id)] })
  })
}

/** Locks todos, parents first, and tells which of them have ended: whoever would put one back waits, and finds it gone. */
async function lockEnded(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string; ended: boolean }>({
    name: 'lock_ended',
    text: `SELECT id, completed_at IS NOT NULL AS ended FROM todos WHERE id = ANY($1)
      ORDER BY depth, id FOR UPDATE SKIP LOCKED`,
    values: [[...new Set(ids)]],
  })
  return new Set(rows.filter(({ ended }) => ended).map(({ id }) => id))
}

/** A part of a deletion of `events`: who has read the log up to one of them has missed nothing yet, who has not must fetch anew. */
const REMEMBER = `UPDATE event_log SET forgotten = greatest(forgotten, (SELECT max(id) FROM events))
  WHERE forgotten < (SELECT max(id) FROM events)`

// Questions and effects go with their todo by themselves.
const FORGET_TODOS = `WITH gone AS (DELETE FROM todos WHERE id = ANY($1) RETURNING id, queue, state),
  attempts AS (DELETE FROM todo_attempts WHERE todo_id = ANY($1)),
  events AS (DELETE FROM todo_events WHERE todo_id = ANY($1) RETURNING id),
  remembered AS (${REMEMBER})
  SELECT id, queue, state FROM gone`

const OLD_NOTES = `SELECT e.id FROM todo_events e WHERE e.todo_id IS NULL AND e.at < now() - make_interval(days => $1)
  AND coalesce(e.id::text <> ALL($2::text[]) AND ($3::text[] IS NULL OR e.id::text = ANY($3::text[])), false)
  ORDER BY e.at, e.id LIMIT ${RETENTION_ROWS}`

/** The ids of the next batch of events without a todo that are older than so many days. */
export const findOldNotes = async (db: Db, days: number, among: Among): Promise<string[]> =>
  (await db.query<{ id: number }>({ name: 'old_notes', text: OLD_NOTES, values: [days, ...amongParams(among)] })).map(
    ({ id }) => String(id),
  )

/** Deletes one batch of events without a todo by their age; returns their ids. */
export async function forgetNotes(db: Db, days: number, among: Among = {}): Promise<string[]> {
  const ids = await findOldNotes(db, days, among)
  if (ids.length === 0) return []
  await db.query({
    name: 'forget_notes',
    text: `WITH events AS (DELETE FROM todo_events WHERE id = ANY($1::bigint[]) RETURNING id) ${REMEMBER}`,
    values: [ids],
  })
  return ids
}

const OVER = `r.ended_at < now() - make_interval(days => $1)
  AND coalesce(r.id <> ALL($2::text[]) AND ($3::text[] IS NULL OR r.id = ANY($3::text[])), false)`

/** The ids of the bulk runs that ended more than so many days ago. */
export const findOldBulks = async (db: Db, days: number, among: Among): Promise<string[]> =>
  (
    await db.query<{ id: string }>({
      name: 'old_bulks',
      text: `SELECT r.id FROM bulk_runs r WHERE ${OVER} ORDER BY r.ended_at LIMIT ${RETENTION_ROWS}`,
      values: [days, ...amongParams(among)],
    })
  ).map(({ id }) => id)

/** Deletes one batch of the results of such runs, and those runs that have none left; returns the ids of both. */
export async function forgetBulks(db: Db, days: number, among: Among = {}): Promise<string[]> {
  const values = [days, ...amongParams(among)]
  const results = await db.query<{ id: string }>({
    name: 'forget_bulk_results',
    text: `DELETE FROM bulk_results b USING (SELECT k.bulk_id, k.todo_id FROM bulk_runs r JOIN bulk_results k ON k.bulk_id = r.id
        WHERE ${OVER} LIMIT ${RETENTION_ROWS}) o
      WHERE b.bulk_id = o.bulk_id AND b.todo_id = o.todo_id RETURNING b.todo_id AS id`,
    values,
  })
  const runs = await db.query<{ id: string }>({
    name: 'forget_bulks',
    text: `DELETE FROM bulk_runs r WHERE ${OVER} AND NOT EXISTS (SELECT FROM bulk_results b WHERE b.bulk_id = r.id) RETURNING r.id`,
    values,
  })
  return [...results, ...runs].map(({ id }) => id)
}

// By the index on just this difference: nobody is looked at who has few.
const crowdedSql = (
  limit: number,
): string => `SELECT t.id, t.attempts FROM todos t WHERE t.attempts - t.attempts_pruned > 5
  AND t.attempts - t.attempts_pruned > $1::int AND ${AMONG} ORDER BY t.attempts - t.attempts_pruned LIMIT ${limit}`

const CROWDED = crowdedSql(RETENTION_ROWS)

/** How many todos have more attempts kept than that; so many are counted at most. */
export async function countCrowded(db: Db, attempts: number, most: number): Promise<number> {
  const text = `SELECT count(*) AS count FROM (${crowdedSql(most)}) c`
  const [row] = await db.query<{ count: number }>({ text, values: [attempts, ...amongParams({})] })
  return row?.count ?? 0
}

/** The ids of the next batch of todos with more attempts kept than that. */
export const findCrowded = async (db: Db, most: number, among: Among): Promise<string[]> =>
  (await db.query<{ id: string }>({ name: 'crowded', text: CROWDED, values: [most, ...amongParams(among)] })).map(
    ({ id }) => id,
  )

/** Deletes the oldest closed attempts of one batch of todos with more than `most`; returns the todos' ids. */
export async function pruneAttempts(db: Db, most: number, among: Among = {}): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: 'prune_attempts',
    text: `WITH crowded AS MATERIALIZED (${CROWDED} FOR UPDATE SKIP LOCKED),
      gone AS (
        DELETE FROM todo_attempts a USING crowded c
        WHERE a.todo_id = c.id AND a.seq <= c.attempts - $1::int AND a.ended_at IS NOT NULL)
      UPDATE todos t SET attempts_pruned = c.attempts - $1::int FROM crowded c WHERE t.id = c.id RETURNING t.id`,
    values: [most, ...amongParams(among)],
  })
  return rows.map(({ id }) => id)
}

/** How long and how much is kept, as the settings say. */
export interface Keeping {
  days: number
  rows: number
  attempts: number
}

/** What is in force. */
export const keepingOf = (settings: Settings): Keeping => ({
  days: settings.retention_max_age_days.value,
  rows: settings.retention_max_rows.value,
  attempts: settings.attempt_history_max_per_todo.value,
})
