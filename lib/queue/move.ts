import { ring } from '#lib/db/bell'
import type { Db } from '#lib/db/connect'
import { isTerminal, type State } from '#lib/model/states'
import { TRANSITIONS, type Transition, type Verb } from '#lib/model/transitions'
import { cardColumns, todoColumns, todoOf } from '#lib/wire/todo-row'
import { countMoves } from './counted'
import { type Kin, LEAVE_PARENTS, LONE, type Moving, moveKin } from './kin'
import type { Moved } from './moved'
import type { Plan } from './plan'
import { CLAIMED_USAGE, leavingUsageSql } from './usage'

/**
 * Moves todos by one statement: locks the rows, checks the from-states and the plan's guard, writes the row, closes or
 * opens attempt and interrupt, logs the event. Returns those that moved; a row that may not move is not among them.
 * `rows` are the caller's (`id`, `actor` where it is no worker, and the plan's input), `params` the plan's own from $2 on. Counters and the
 * doorbell follow the commit.
 */
export async function move(db: Db, plan: Plan, rows: readonly object[], params: unknown[] = []): Promise<Moved[]> {
  const moving = { plan, rows, params }
  if (!mayEnd(TRANSITIONS[plan.transition]) || 'chosen' in plan.pick) return moveOnce(db, moving, 'any')
  const lone = await moveOnce(db, moving, 'lone')
  return [...lone, ...(await moveKin(db, moving, { lone, moveOnce }))]
}

const mayEnd = (row: Transition): boolean => endsAlways(row) || row.atCap !== undefined

/** Moves rows by one statement, of a family or not as `kin` says. */
async function moveOnce(db: Db, { plan, rows, params }: Moving, kin: Kin): Promise<Moved[]> {
  const values = [JSON.stringify(rows), ...params]
  const moved = (await db.query({ name: nameOf(plan, kin), text: textOf(plan, kin), values })).map(toMoved)
  if (moved.length > 0) {
    db.afterCommit(() => {
      countMoves(plan.transition, moved)
      ring(db.root, 'log')
    })
  }
  return moved
}

const toMoved = (row: Record<string, unknown>): Moved => ({
  todo: todoOf(row),
  from: row.was_state as State,
  verb: row.event_verb as Verb,
  asked: row.was_kind ? { kind: row.was_kind as string, seconds: row.was_asked_seconds as number } : null,
})

const texts = new Map<string, string>()

const nameOf = (plan: Plan, kin: Kin): string =>
  [plan.transition, plan.variant, kin === 'kin' && kin].filter(Boolean).join('_')

function textOf(plan: Plan, kin: Kin): string {
  const known = texts.get(nameOf(plan, kin))
  if (known) return known
  const text = moveSql(plan, kin)
  texts.set(nameOf(plan, kin), text)
  return text
}

/** SQL for a list of strings, as literals: the planner uses a partial index only when it sees constants. */
export const literals = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ')

function moveSql(plan: Plan, kin: Kin): string {
  const row: Transition = TRANSITIONS[plan.transition]
  const ctes = [
    `i AS MATERIALIZED (${givenSql({ id: 'text', actor: 'text', ...plan.input }, 'named' in plan.pick ? MANY : '1')})`,
    ...('chosen' in plan.pick ? [`chosen AS MATERIALIZED (${plan.pick.chosen})`] : []),
    `p AS MATERIALIZED (${pickSql(plan, row, kin)})`,
    `moved AS (
      UPDATE todos t SET ${assignments(plan, row)}
      FROM p WHERE t.id = p.todo_id RETURNING t.*, p.*)`,
    ...(row.closes ? [`closed AS (${closeAttempt(row.closes, plan.attemptError)})`] : []),
    ...(row.interrupt && row.interrupt !== 'opens' ? [`closed_interrupt AS (${closeInterrupt(row.interrupt)})`] : []),
    ...(kin === 'kin' ? [LEAVE_PARENTS] : []),
    ...Object.entries(plan.also ?? {}).map(([name, sql]) => `${name} AS (${sql})`),
    `logged AS (${logSql(plan, row)})`,
  ]
  return `WITH ${ctes.join(',\n')}\n${resultSql(plan, row)}`
}

const MANY = 'jsonb_array_length($1::jsonb)'

/**
 * SQL for the rows in $1, a JSON array. The limit leaves none out: it lets the planner expect one or a few instead of a
 * hundred, for which it would read a table of up to 20 000 todos from end to end at every call.
 */
export const givenSql = (columns: Record<string, string>, limit = MANY): string => {
  const declared = Object.entries(columns).map(([column, type]) => `${column} ${type}`)
  return `SELECT * FROM jsonb_to_recordset($1::jsonb) AS i(${declared.join(', ')}) LIMIT ${limit}`
}

function pickSql(plan: Plan, row: Transition, kin: Kin): string {
  const { pick } = plan
  const given = ['actor', ...Object.keys(plan.input ?? {})].map((column) => `i.${column} AS in_${column}`)
  const columns = [
    't.id AS todo_id',
    't.state AS was_state',
    't.owner AS was_owner',
    't.open_interrupt_id AS was_interrupt_id',
    't.interrupted_at AS was_interrupted_at',
    `${plan.dead ?? 'false'} AS dead`,
    ...given,
  ].join(', ')
  if ('chosen' in pick) return `SELECT ${columns} FROM i CROSS JOIN chosen JOIN todos t ON t.id = chosen.id`
  // The twin `s` is read by the statement's snapshot and never re-read, so a row changed since then fails the join.
  const twin = plan.unfenced ? 'JOIN todos s ON s.id = t.id AND s.version = t.version' : ''
  const which = kin === 'lone' ? `AND ${LONE}` : ''
  const states = `t.state IN (${literals(row.from)})`
  if ('swept' in pick) {
    return `SELECT ${columns} FROM i CROSS JOIN todos t ${twin} WHERE ${states} AND (${pick.swept}) ${which}
      ORDER BY t.id LIMIT ${pick.limit} FOR UPDATE OF t SKIP LOCKED`
  }
  // IS TRUE hides the state from the planner: with few claimed rows it would read all of them instead of the one by its id.
  return `SELECT ${columns} FROM i JOIN todos t ON t.id = i.id ${twin} WHERE (${states}) IS TRUE AND (${pick.named}) ${which}
    ORDER BY t.depth, t.id FOR UPDATE OF t`
}

function assignments(plan: Plan, row: Transition): string {
  const columns: Record<string, string> = {
    state: stateSql(row),
    version: 't.version + 1',
    state_since: 'now()',
    updated_at: 'now()',
    ...(row.lease === 'clears' ? { owner: 'NULL', owner_endpoint_id: 'NULL', lease_expires_at: 'NULL' } : {}),
    ...(row.interrupt === 'opens' ? { interrupted_at: 'now()', open_interrupt_id: 'p.in_interrupt_id' } : {}),
    ...(row.interrupt && row.interrupt !== 'opens' ? { interrupted_at: 'NULL', open_interrupt_id: 'NULL' } : {}),
    ...(row.interrupt ? { wait_until: 'NULL' } : {}),
    ...usageOf(plan, row),
    ...plan.set,
    completed_at: endedSql(row),
    ...(plan.error
      ? { error: `CASE WHEN ${diesSql(row)} THEN ${plan.error} ELSE ${plan.set?.error ?? 't.error'} END` }
      : {}),
  }
  return Object.entries(columns)
    .map(([column, sql]) => `${column} = ${sql}`)
    .join(', ')
}

function usageOf({ transition, input }: Plan, row: Transition): Record<string, string> {
  if (transition === 'claim') return { usage: CLAIMED_USAGE }
  const leaves = row.from.includes('claimed') && row.to !== 'claimed'
  return leaves ? { usage: leavingUsageSql(input && 'usage' in input ? 'p.in_usage' : 'NULL::jsonb') } : {}
}

const diesSql = (row: Transition): string => (row.atCap ? 'p.dead' : String(row.to === 'failed'))

function stateSql(row: Transition): string {
  if (row.to === 'kind') return "CASE p.in_kind WHEN 'auth' THEN 'auth-required' ELSE 'input-required' END"
  if (row.to === 'same') return 't.state'
  return row.atCap ? `CASE WHEN p.dead THEN '${row.atCap}' ELSE '${row.to}' END` : `'${row.to}'`
}

const endedSql = (row: Transition): string =>
  row.atCap ? 'CASE WHEN p.dead THEN now() END' : endsAlways(row) ? 'now()' : 'NULL'

const endsAlways = ({ to }: Transition): boolean => to !== 'kind' && to !== 'same' && isTerminal(to)

const verbSql = (row: Transition): string =>
  row.atCap ? `CASE WHEN m.dead THEN 'failed' ELSE '${row.verb}' END` : `'${row.verb}'`

const closeAttempt = ({ outcome, disposition }: NonNullable<Transition['closes']>, error = 'NULL'): string => `
  UPDATE todo_attempts a SET ended_at = now(), outcome = '${outcome}',
    error = CASE WHEN m.dead THEN m.error ELSE ${error} END, disposition = CASE WHEN m.dead THEN 'dead_lettered' ELSE '${disposition}' END
  FROM moved m WHERE a.todo_id = m.id AND a.seq = m.attempts AND (a.ended_at IS NULL) IS TRUE`

function closeInterrupt(status: 'answered' | 'resolved' | 'expired' | 'canceled'): string {
  const answer =
    status === 'answered' || status === 'resolved'
      ? `, answered_at = now(), answered_by = m.in_answered_by, channel = m.in_channel, action = m.in_action,
         content = m.in_content, comment = m.in_comment`
      : ''
  return `UPDATE interrupts q SET status = '${status}'${answer} FROM moved m
    WHERE q.id = m.was_interrupt_id AND q.status = 'open'`
}

function actorSql(row: Transition): string {
  if (row.by === 'reaper') return "'reaper'"
  if (row.by === 'system') return "coalesce(m.in_actor, 'system')"
  if (row.by === 'holder') return "coalesce(m.in_actor, 'worker:' || m.was_owner)"
  return row.by === 'worker' ? "'worker:' || m.owner" : 'm.in_actor'
}

const logSql = (plan: Plan, row: Transition): string => `
  INSERT INTO todo_events (todo_id, queue, verb, from_state, to_state, reason, actor, attempt_seq, lease_epoch, data)
  SELECT m.id, m.queue, ${verbSql(row)}, m.was_state, m.state, ${plan.reason ?? (row.reason ? `'${row.reason}'` : 'NULL')},
    ${actorSql(row)}, nullif(m.attempts, 0), m.lease_epoch, ${plan.data ?? 'NULL::jsonb'}
  FROM moved m ORDER BY m.id`

function resultSql({ asCards }: Plan, row: Transition): string {
  const asked = row.interrupt && row.interrupt !== 'opens'
  // Sweeps and revocations move hundreds at once and nobody reads their contents, which may be a megabyte each.
  const columns = row.by === 'reaper' || row.by === 'system' || asCards ? cardColumns('m') : todoColumns('m')
  return `SELECT ${columns}, m.was_state, m.was_owner, ${verbSql(row)} AS event_verb,
    ${asked ? 'q.kind' : 'NULL'} AS was_kind, extract(epoch FROM now() - m.was_interrupted_at)::float8 AS was_asked_seconds
    FROM moved m ${asked ? 'LEFT JOIN interrupts q ON q.id = m.was_interrupt_id' : ''}`
}
