import type { Db } from '#lib/db/connect'
import { expirationBackoffSql } from '#lib/model/backoff'
import { INTERRUPTS } from '#lib/model/states'
import { TRANSITIONS } from '#lib/model/transitions'
import { NOBODY_MAY_CLAIM, NOBODY_MAY_CLAIM_ERROR } from './assignee'
import { literals, move } from './move'
import type { Moved } from './moved'
import type { Plan } from './plan'
import type { Settings } from './settings'
import { overBudgetErrorSql, TIME_IS_UP } from './usage'

/** How many rows one sweep statement moves at most. */
export const SWEEP_ROWS = 500

/** Which rows a sweep leaves alone, and the only ones it takes if not all: ids of todos. */
export interface Among {
  except?: readonly string[]
  only?: readonly string[]
}

/** How long questions may wait, in seconds, by who keeps the todo meanwhile: its worker (held) or nobody (parked); 0 is for ever. */
export interface WaitTtls {
  held: number
  parked: number
}

/** Those in force. */
export const waitTtls = (settings: Settings): WaitTtls => ({
  held: settings.interrupt_lease_ttl_seconds.value,
  parked: settings.parked_interrupt_ttl_seconds.value,
})

/** The transitions that are sweeps. */
export type SweepName =
  | 'expireDeadline'
  | 'expireLease'
  | 'expireInterrupt'
  | 'expireParked'
  | 'exhaust'
  | 'childrenDone'
  | 'expireBudget'

type SweepPlan = Plan & { transition: SweepName; pick: { swept: string; limit: number } }

const swept = (condition: string, when = BEFORE_DEADLINE): SweepPlan['pick'] => ({
  swept: `${condition} AND ${when} AND ${AMONG}`,
  limit: SWEEP_ROWS,
})

const SPENT = 't.failures + t.lease_expirations'
const BEFORE_DEADLINE = '(t.deadline_at IS NULL OR t.deadline_at >= now())'
// In coalesce, for else the planner would take it that hardly a row is left, and sort all there are for every batch.
/** SQL: whether a sweep may take `todos t`, by the first two of its parameters (see `amongParams`). */
export const AMONG = 'coalesce(t.id <> ALL($2::text[]) AND ($3::text[] IS NULL OR t.id = ANY($3::text[])), false)'

const OLDER_THAN_TTL = `t.interrupted_at < now() - make_interval(secs => i.ttl_seconds)
    AND (t.wait_until IS NULL OR t.wait_until < now())`

/** For each kind of wait, as SQL on `todos t`: whose it is, and whether one that expires ends its todo for good. */
const WAITS = {
  held: { isIt: 't.owner IS NOT NULL', dies: `(${SPENT} + 1 >= t.max_attempts OR ${NOBODY_MAY_CLAIM})` },
  parked: { isIt: 't.owner IS NULL', dies: `(t.wait_expirations + 1 >= t.max_attempts OR ${NOBODY_MAY_CLAIM})` },
} as const

const lapsed = (wait: keyof WaitTtls): string => `${WAITS[wait].isIt} AND ${OLDER_THAN_TTL}`

/** SQL: whether the next sweep takes back `todos t`, in an interrupt state, under the deadline `i.ttl_seconds`. */
export const overdue = (wait: keyof WaitTtls): string => `${lapsed(wait)} AND ${BEFORE_DEADLINE}`

/** SQL: whether that ends `todos t` for good. */
export const wouldDie = (wait: keyof WaitTtls): string => WAITS[wait].dies

const EXPIRED = {
  dead: WAITS.held.dies,
  set: {
    lease_expirations: 't.lease_expirations + 1',
    available_at: `now() + ${expirationBackoffSql('(t.lease_expirations + 1)')}`,
  },
  data: `jsonb_build_object('reclaimed_epoch', m.lease_epoch, 'attempts', m.attempts, 'lease_expirations', m.lease_expirations)`,
}

/** The error of a row that a sweep fails instead of putting it back. */
const died = (error: string): string => `CASE WHEN ${NOBODY_MAY_CLAIM} THEN ${NOBODY_MAY_CLAIM_ERROR} ELSE ${error} END`

const DEADLINE: SweepPlan = {
  transition: 'expireDeadline',
  pick: swept('t.deadline_at < now()', 'true'),
  unfenced: true,
  error: `jsonb_build_object('code', 'deadline_exceeded', 'message',
    format('Not done by %s', to_char(t.deadline_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`,
}

const LEASE: SweepPlan = {
  transition: 'expireLease',
  pick: swept('t.lease_expires_at <= now()'),
  unfenced: true,
  ...EXPIRED,
  error: died(`jsonb_build_object('code', 'max_attempts_exceeded', 'message',
    format('The lease expired; %s of %s attempts are spent', ${SPENT} + 1, t.max_attempts))`),
}

// The oldest of a kind, found by the index of that kind: without this the planner, which cannot know how many are that old,
// reads every question there is in the order of ids. More than a batch, so that locked ones don't keep the others back.
const oldest = (wait: keyof WaitTtls): string => `t.id = ANY(ARRAY(
    SELECT t.id FROM (SELECT ($1::jsonb -> 0 ->> 'ttl_seconds')::bigint AS ttl_seconds) i CROSS JOIN todos t
    WHERE t.state IN (${literals(INTERRUPTS)}) AND ${lapsed(wait)} AND ${BEFORE_DEADLINE} AND ${AMONG}
    ORDER BY t.interrupted_at LIMIT ${2 * SWEEP_ROWS}))`

const nobodyAnswered = (spent: string): string => `format('Nobody answered in %s s; %s of %s attempts are spent',
  p.in_ttl_seconds, ${spent} + 1, t.max_attempts)`

const unanswered = (wait: keyof WaitTtls, spent: string) => ({
  input: { ttl_seconds: 'bigint' },
  pick: swept(`${lapsed(wait)} AND ${oldest(wait)}`),
  unfenced: true,
  result: `CASE WHEN p.dead THEN coalesce(t.result, '{}') || jsonb_build_object(
    'error', 'interrupt_expired', 'detail', ${nobodyAnswered(spent)}) ELSE t.result END`,
  error: died(`jsonb_build_object('code', 'interrupt_expired', 'message', ${nobodyAnswered(spent)})`),
})

const { result: heldResult, ...HELD } = unanswered('held', SPENT)

const INTERRUPT: SweepPlan = {
  transition: 'expireInterrupt',
  ...HELD,
  ...EXPIRED,
  set: { ...EXPIRED.set, result: heldResult },
}

const { result: parkedResult, ...PARKED } = unanswered('parked', 't.wait_expirations')

const PARKED_INTERRUPT: SweepPlan = {
  transition: 'expireParked',
  ...PARKED,
  dead: WAITS.parked.dies,
  set: { wait_expirations: 't.wait_expirations + 1', available_at: 'now()', result: parkedResult },
  data: `jsonb_build_object('attempts', m.attempts, 'wait_expirations', m.wait_expirations)`,
}

const EXHAUST: SweepPlan = {
  transition: 'exhaust',
  pick: swept(`(${SPENT} >= t.max_attempts) IS TRUE`),
  unfenced: true,
  error: `jsonb_build_object('code', 'max_attempts_exceeded', 'message',
    format('%s of %s attempts are spent', ${SPENT}, t.max_attempts))`,
}

const CHILDREN_DONE: SweepPlan = {
  transition: 'childrenDone',
  pick: swept(`(t.live_children = 0) IS TRUE AND NOT ${NOBODY_MAY_CLAIM}`),
  unfenced: true,
  set: { available_at: 'now()' },
}

const BUDGET: SweepPlan = {
  transition: 'expireBudget',
  pick: swept(`(t.budget ? 'max_seconds') IS TRUE AND ${TIME_IS_UP} < now()`),
  unfenced: true,
  error: overBudgetErrorSql('NULL::jsonb'),
}

/** The parameters that say which rows a sweep takes. */
export const amongParams = ({ except = [], only }: Among): unknown[] => [except, only ?? null]

/** One batch of todos whose deadline is over, dead-lettered whatever they are in. */
export const expireDeadlines = (db: Db, among: Among = {}): Promise<Moved[]> =>
  move(db, DEADLINE, [{}], amongParams(among))

/** One batch of claimed todos that have used up the time of their budget, dead-lettered. */
export const expireBudgets = (db: Db, among: Among = {}): Promise<Moved[]> => move(db, BUDGET, [{}], amongParams(among))

/** One batch of todos that wait for children though none is alive, continued. The end of the last child does so itself. */
export const continueParents = (db: Db, among: Among = {}): Promise<Moved[]> =>
  move(db, CHILDREN_DONE, [{ actor: 'reaper' }], amongParams(among))

/**
 * One batch of lapsed leases, taken back: requeued after 1, 2, 4 … seconds, dead-lettered at the cap. Like all sweeps it
 * returns its todos as cards, the large columns null.
 */
export const expireLeases = (db: Db, among: Among = {}): Promise<Moved[]> => move(db, LEASE, [{}], amongParams(among))

interface Waits extends Among {
  /** None is taken while it is 0: the sweep is off. */
  ttlSeconds: number
}

/** One batch of held questions older than the TTL, taken back likewise. */
export const expireInterrupts = (db: Db, waits: Waits): Promise<Moved[]> => expireWaits(db, INTERRUPT, waits)

/** One batch of parked questions older than theirs: claimable at once, dead-lettered when none was answered `max_attempts` times. */
export const expireParked = (db: Db, waits: Waits): Promise<Moved[]> => expireWaits(db, PARKED_INTERRUPT, waits)

const expireWaits = async (db: Db, plan: SweepPlan, { ttlSeconds, ...among }: Waits): Promise<Moved[]> =>
  ttlSeconds > 0 ? move(db, plan, [{ ttl_seconds: ttlSeconds }], amongParams(among)) : []

/** One batch of pending todos whose allowance is used up, dead-lettered: no claim would ever take them. */
export const exhaust = (db: Db, among: Among = {}): Promise<Moved[]> => move(db, EXHAUST, [{}], amongParams(among))

const PLANS: Record<SweepName, SweepPlan> = {
  expireDeadline: DEADLINE,
  expireLease: LEASE,
  expireInterrupt: INTERRUPT,
  expireParked: PARKED_INTERRUPT,
  exhaust: EXHAUST,
  childrenDone: CHILDREN_DONE,
  expireBudget: BUDGET,
}

/** The ids of the next batch of a sweep, locked or not; the TTL is that of its waits. */
export async function findLapsed(db: Db, sweep: SweepName, { ttlSeconds, ...among }: Waits) {
  const rows = await db.query<{ id: string }>({
    name: `find_lapsed_${sweep}`,
    text: `SELECT t.id FROM jsonb_to_record($1::jsonb -> 0) AS i(ttl_seconds bigint) CROSS JOIN todos t
      WHERE t.state IN (${literals(TRANSITIONS[sweep].from)}) AND ${PLANS[sweep].pick.swept} ORDER BY t.id LIMIT ${SWEEP_ROWS}`,
    values: [JSON.stringify([{ ttl_seconds: ttlSeconds }]), ...amongParams(among)],
  })
  return rows.map(({ id }) => id)
}
