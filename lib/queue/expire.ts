import type { Db } from '#lib/db/connect'
import { expirationBackoffSql } from '#lib/model/backoff'
import { type Moved, move, type Plan } from './move'

/** How many rows one sweep statement moves at most. */
export const SWEEP_ROWS = 500

const SPENT = 't.failures + t.lease_expirations'
const BEFORE_DEADLINE = '(t.deadline_at IS NULL OR t.deadline_at >= now())'

const EXPIRED = {
  dead: `${SPENT} + 1 >= t.max_attempts`,
  set: {
    lease_expirations: 't.lease_expirations + 1',
    available_at: `now() + ${expirationBackoffSql('(t.lease_expirations + 1)')}`,
  },
  data: `jsonb_build_object('reclaimed_epoch', m.lease_epoch, 'attempts', m.attempts, 'lease_expirations', m.lease_expirations)`,
}

const LEASE: Plan = {
  transition: 'expireLease',
  pick: { swept: `t.lease_expires_at <= now() AND ${BEFORE_DEADLINE}`, limit: SWEEP_ROWS },
  unfenced: true,
  ...EXPIRED,
  error: `jsonb_build_object('code', 'max_attempts_exceeded', 'message',
    format('The lease expired; %s of %s attempts are spent', ${SPENT} + 1, t.max_attempts))`,
}

const NOBODY_ANSWERED = `format('Nobody answered in %s s; %s of %s attempts are spent',
  p.in_ttl_seconds, ${SPENT} + 1, t.max_attempts)`

const INTERRUPT: Plan = {
  transition: 'expireInterrupt',
  input: { ttl_seconds: 'bigint' },
  pick: {
    swept: `t.owner IS NOT NULL AND t.interrupted_at < now() - make_interval(secs => i.ttl_seconds)
      AND (t.wait_until IS NULL OR t.wait_until < now()) AND ${BEFORE_DEADLINE}`,
    limit: SWEEP_ROWS,
  },
  unfenced: true,
  ...EXPIRED,
  set: {
    ...EXPIRED.set,
    result: `CASE WHEN p.dead THEN coalesce(t.result, '{}') || jsonb_build_object(
      'error', 'interrupt_expired', 'detail', ${NOBODY_ANSWERED}) ELSE t.result END`,
  },
  error: `jsonb_build_object('code', 'interrupt_expired', 'message', ${NOBODY_ANSWERED})`,
}

const EXHAUST: Plan = {
  transition: 'exhaust',
  pick: { swept: `${SPENT} >= t.max_attempts AND ${BEFORE_DEADLINE}`, limit: SWEEP_ROWS },
  unfenced: true,
  error: `jsonb_build_object('code', 'max_attempts_exceeded', 'message',
    format('%s of %s attempts are spent', ${SPENT}, t.max_attempts))`,
}

/** One batch of lapsed leases, taken back: requeued after 1, 2, 4 … seconds, dead-lettered at the cap. */
export const expireLeases = (db: Db): Promise<Moved[]> => move(db, LEASE, [{}])

/** One batch of held questions older than the TTL, taken back likewise; none when `ttlSeconds` is 0 (the sweep is off). */
export const expireInterrupts = (db: Db, { ttlSeconds }: { ttlSeconds: number }): Promise<Moved[]> =>
  ttlSeconds > 0 ? move(db, INTERRUPT, [{ ttl_seconds: ttlSeconds }]) : Promise.resolve([])

/** One batch of pending todos whose allowance is used up, dead-lettered: no claim would ever take them. */
export const exhaust = (db: Db): Promise<Moved[]> => move(db, EXHAUST, [{}])
