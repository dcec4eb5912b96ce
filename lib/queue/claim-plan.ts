import { INTERRUPTS } from '#lib/model/states'
import { TRANSITIONS } from '#lib/model/transitions'
import { literals } from './move'
import type { Plan } from './plan'

// The states in which a worker holds a todo, or may.
const HELD = ['claimed', ...INTERRUPTS]

const PENDING = `t.state IN (${literals(TRANSITIONS.claim.from)})`

// What makes a pending row claimable, besides its queue.
const READY = `t.available_at <= now() AND (t.deadline_at IS NULL OR t.deadline_at > now())
  AND t.failures + t.lease_expirations < t.max_attempts AND t.wait_expirations < t.max_attempts
  AND (t.assignee_endpoint_id IS NULL OR t.assignee_endpoint_id = i.endpoint_id)`

const AMONG = '($2::text[] IS NULL OR q.name = ANY($2::text[]))'

// Capped queues ($3) were locked by a statement of its own before, so that their counts are not older than the lock.
const OPEN = 'NOT q.paused AND (q.max_claimed IS NULL OR q.name = ANY($3::text[]))'

// The states keep the count within the live rows' indexes: by owner alone it would read every todo there ever was.
const TAKEN = `(SELECT count(*) FROM todos h
  WHERE h.queue = q.name AND h.state IN (${literals(HELD)}) AND h.owner IS NOT NULL)`

const ROOM = `(q.max_claimed IS NULL OR q.max_claimed > ${TAKEN})`

const order = (row: string): string => `${row}.priority DESC, ${row}.available_at, ${row}.id`

// The limit is a literal: one that is worked out would have the planner sort all that is pending instead of taking the
// first few from the claim's own index.
const first = (limit: number, also = 'true'): string => `
  SELECT t.id, t.priority, t.available_at FROM todos t
  WHERE t.queue = q.name AND ${PENDING} AND ${READY} AND ${also}
  ORDER BY ${order('t')} LIMIT ${limit} FOR UPDATE SKIP LOCKED`

const firstWithRoom = (limit: number): string => `
  (SELECT CASE WHEN q.max_claimed IS NULL THEN ${limit} ELSE q.max_claimed - ${TAKEN} END AS room OFFSET 0) r
  CROSS JOIN LATERAL (
    SELECT * FROM (SELECT l.*, row_number() OVER (ORDER BY ${order('l')}) AS nth FROM (${first(limit, 'r.room > 0')}) l) n
    WHERE n.nth <= r.room)`

const LEASE = `coalesce(p.in_lease_seconds, (SELECT q.default_lease_seconds FROM queues q WHERE q.name = t.queue), p.in_fallback_seconds)`

const take = (variant: string, chosen: string): Plan => ({
  transition: 'claim',
  variant,
  input: {
    owner: 'text',
    endpoint_id: 'text',
    lease_seconds: 'integer',
    fallback_seconds: 'integer',
    request_id: 'text',
  },
  pick: { chosen },
  set: {
    owner: 'p.in_owner',
    owner_endpoint_id: 'p.in_endpoint_id',
    lease_epoch: 't.lease_epoch + 1',
    attempts: 't.attempts + 1',
    lease_seconds: LEASE,
    lease_expires_at: `now() + make_interval(secs => ${LEASE})`,
    claimed_at: 'now()',
  },
  also: {
    opened: `INSERT INTO todo_attempts (todo_id, seq, lease_epoch, owner, endpoint_id, request_id)
      SELECT m.id, m.attempts, m.lease_epoch, m.owner, m.owner_endpoint_id, m.in_request_id FROM moved m`,
  },
})

/**
 * Claims the best of these queues ($2, null for all), of which $3 are capped: each open queue yields its first few by the
 * claim's own index, and the best of all are taken.
 */
export const fromQueues = (limit: number, capped: boolean): Plan =>
  take(
    `${limit}${capped ? '_capped' : ''}`,
    `SELECT c.id FROM i CROSS JOIN queues q CROSS JOIN LATERAL ${capped ? firstWithRoom(limit) : `(${first(limit)})`} c
     WHERE ${AMONG} AND ${OPEN} ORDER BY ${order('c')} LIMIT ${limit}`,
  )

// By name first: AND goes from left to right, and the other limited queues need not be counted.
/** Claims the todo $2, waiting for its lock; $3 as above. */
export const BY_ID = take(
  'by_id',
  `SELECT t.id FROM i CROSS JOIN queues q JOIN todos t ON t.queue = q.name
   WHERE t.id = $2 AND ${PENDING} AND ${READY} AND NOT q.paused
     AND (q.max_claimed IS NULL OR q.name = ANY($3::text[]) AND q.max_claimed > ${TAKEN}) FOR UPDATE OF t`,
)

/** SQL that yields a row when endpoint $1 could claim something from these queues ($2, null for all), whoever has it locked. */
export const IS_READY = `SELECT 1 AS ready FROM (SELECT $1::text AS endpoint_id) i CROSS JOIN queues q
  CROSS JOIN LATERAL (SELECT FROM todos t WHERE t.queue = q.name AND ${PENDING} AND ${READY} LIMIT 1) c
  WHERE ${AMONG} AND NOT q.paused AND ${ROOM} LIMIT 1`
