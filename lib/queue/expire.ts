import type { Db } from '#lib/db/connect'
import { expirationBackoffSql } from '#lib/model/backoff'
import { TRANSITIONS } from '#lib/model/transitions'
import { literals, move, type Plan } from './move'
import type { Moved } from './moved'

/** How many rows one sweep statement moves at most. */
export const SWEEP_ROWS = 500

/** Which rows a sweep leaves alone, and the only ones it takes if not all: ids of todos. */
export interface Among {
  except?: readonly string[]
  only?: readonly string[]
}

/** The transitions that are sweeps. */
export type SweepName = 'expireLease' | 'expireInterrupt' | 'exhaust'

type SweepPlan = Plan & { transition: SweepName; pick: { swept: string; limit: number } }

const swept = (condition: string): SweepPlan['pick'] => ({
  swept: `${condition} AND ${BEFORE_DEADLINE} AND ${AMONG}`,
  limit: SWEEP_ROWS,
})

const SPENT = 't.failures + t.lease_expirations'
const BEFORE_DEADLINE = '(t.deadline_at IS NULL OR t.deadline_at >= now())'
// In coalesce, for else the planner would take it that hardly a row is left, and sort all there are for every batch.
const AMONG = 'coalesce(t.id <> ALL($2::text[]) AND ($3::text[] IS NULL OR t.id = ANY($3::text[])), false)'

const LAPSED_INTERRUPT = `t.owner IS NOT NULL AND t.interrupted_at < now() - make_interval(secs => i.ttl_seconds)
    AND (t.wait_until IS NULL OR t.wait_until < now())`

/** SQL: whether the next sweep takes back `todos t`, in an interrupt state, under the deadline `i.ttl_seconds`. */
export const OVERDUE_INTERRUPT = `${LAPSED_INTERRUPT} AND ${BEFORE_DEADLINE}`

/** SQL: whether an expiry ends `todos t` for good. */
export const WOULD_DIE = `${SPENT} + 1 >= t.max_attempts`

const EXPIRED = {
  dead: WOULD_DIE,
  set: {
    lease_expirations: 't.lease_expirations + 1',
    available_at: `now() + ${expirationBackoffSql('(t.lease_expirations + 1)')}`,
  },
  data: `jsonb_build_object('reclaimed_epoch', m.lease_epoch, 'attempts', m.attempts, 'lease_expirations', m.lease_expirations)`,
}

const LEASE: SweepPlan = {
  transition: 'expireLease',
  pick: swept('t.lease_expires_at <= now()'),
  unfenced: true,
  ...EXPIRED,
  error: `jsonb_build_object('code', 'max_attempts_exceeded', 'message',
    format('The lease expired; %s of %s attempts are spent', ${SPENT} + 1, t.max_attempts))`,
}

const NOBODY_ANSWERED = `format('Nobody answered in %s s; %s of %s attempts are spent',
  p.in_ttl_seconds, ${SPENT} + 1, t.max_attempts)`

const INTERRUPT: SweepPlan = {
  transition: 'expireInterrupt',
  input: { ttl_seconds: 'bigint' },
  pick: swept(LAPSED_INTERRUPT),
  unfenced: true,
  ...EXPIRED,
  set: {
    ...EXPIRED.set,
    result: `CASE WHEN p.dead THEN coalesce(t.result, '{}') || jsonb_build_object(
      'error', 'interrupt_expired', 'detail', ${NOBODY_ANSWERED}) ELSE t.result END`,
  },
  error: `jsonb_build_object('code', 'interrupt_expired', 'message', ${NOBODY_ANSWERED})`,
}

const EXHAUST: SweepPlan = {
  transition: 'exhaust',
  pick: swept(`(${SPENT} >= t.max_attempts) IS TRUE`),
  unfenced: true,
  error: `jsonb_build_object('code', 'max_attempts_exceeded', 'message',
    format('%s of %s attempts are spent', ${SPENT}, t.max_attempts))`,
}

const params = ({ except = [], only }: Among): unknown[] => [except, only ?? null]

/**
 * One batch of lapsed leases, taken back: requeued after 1, 2, 4 … seconds, dead-lettered at the cap. Like all sweeps it
 * returns its todos as cards, the large columns null.
 */
export const expireLeases = (db: Db, among: Among = {}): Promise<Moved[]> => move(db, LEASE, [{}], params(among))

/** One batch of held questions older than the TTL, taken back likewise; none when `ttlSeconds` is 0 (the sweep is off). */
export const expireInterrupts = (db: Db, { ttlSeconds, ...among }: Among & { ttlSeconds: number }): Promise<Moved[]> =>
  ttlSeconds > 0 ? move(db, INTERRUPT, [{ ttl_seconds: ttlSeconds }], params(among)) : Promise.resolve([])

/** One batch of pending todos whose allowance is used up, dead-lettered: no claim would ever take them. */
export const exhaust = (db: Db, among: Among = {}): Promise<Moved[]> => move(db, EXHAUST, [{}], params(among))

const PLANS: Record<SweepName, SweepPlan> = { expireLease: LEASE, expireInterrupt: INTERRUPT, exhaust: EXHAUST }

/** The ids of the next batch of a sweep, locked or not; the TTL is the interrupts'. */
export async function findLapsed(db: Db, sweep: SweepName, { ttlSeconds, ...among }: Among & { ttlSeconds: number }) {
  const rows = await db.query<{ id: string }>({
    name: `find_lapsed_${sweep}`,
    text: `SELECT t.id FROM (SELECT $1::bigint AS ttl_seconds) i CROSS JOIN todos t
      WHERE t.state IN (${literals(TRANSITIONS[sweep].from)}) AND ${PLANS[sweep].pick.swept} ORDER BY t.id LIMIT ${SWEEP_ROWS}`,
    values: [ttlSeconds, ...params(among)],
  })
  return rows.map(({ id }) => id)
}
