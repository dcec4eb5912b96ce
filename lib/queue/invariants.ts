import type { Db } from '#lib/db/connect'
import { INTERRUPTS, LIVE, TERMINAL } from '#lib/model/states'
import { literals } from './move'

/** A row that breaks a rule of the model: which rule, which todo, what was found. */
export interface Breach {
  rule: string
  todo_id: string
  found: string
}

const WITH_ATTEMPT = `'claimed', 'waiting', ${literals(INTERRUPTS)}`

// Only these change a todo's row without changing its state.
const CHANGES = `e.to_state IS NOT NULL OR e.verb IN ('extended', 'edited')`

// Of whatever is older than an event that was deleted, children may have been deleted too.
const IS_WHOLE = 'min(e.id) > (SELECT max(forgotten) FROM event_log)'

const OF_EFFECTS = `verb IN ('effect_begun', 'effect_settled')`

// Each yields the todos that break its rule; the rules one row can tell are CHECKs of the table besides.
const RULES: Record<string, string> = {
  'one open attempt while somebody works or waits, none otherwise': `
    SELECT t.id, format('%s with %s open', t.state, n) FROM todos t
    CROSS JOIN LATERAL (SELECT count(*) AS n FROM todo_attempts a WHERE a.todo_id = t.id AND a.ended_at IS NULL) a
    WHERE n <> CASE WHEN t.state IN (${WITH_ATTEMPT}) THEN 1 ELSE 0 END`,
  'the open attempt is the last claim and its holder’s': `
    SELECT t.id, format('attempt %s of %s, epoch %s of %s, %s', a.seq, t.attempts, a.lease_epoch, t.lease_epoch, a.owner)
    FROM todos t JOIN todo_attempts a ON a.todo_id = t.id AND a.ended_at IS NULL
    WHERE a.seq <> t.attempts OR a.lease_epoch <> t.lease_epoch OR a.owner <> coalesce(t.owner, a.owner)
      OR a.endpoint_id <> coalesce(t.owner_endpoint_id, a.endpoint_id)`,
  'a time and a question while interrupted, neither otherwise': `
    SELECT t.id, format('%s since %s asking %s', t.state, t.interrupted_at, t.open_interrupt_id) FROM todos t
    WHERE (t.interrupted_at IS NOT NULL) <> (t.state IN (${literals(INTERRUPTS)}))
      OR (t.open_interrupt_id IS NOT NULL) <> (t.state IN (${literals(INTERRUPTS)}))`,
  'the open question is the one the todo names': `
    SELECT coalesce(t.id, q.todo_id), format('%s names %s, open is %s', t.state, t.open_interrupt_id, q.id)
    FROM (SELECT * FROM todos WHERE open_interrupt_id IS NOT NULL) t
    FULL JOIN (SELECT * FROM interrupts WHERE status = 'open') q ON q.todo_id = t.id AND q.id = t.open_interrupt_id
    WHERE t.id IS NULL OR q.id IS NULL`,
  'an owner and a lease while claimed or held, neither otherwise': `
    SELECT t.id, format('%s, owner %s, lease until %s, question %s', t.state, t.owner, t.lease_expires_at, q.mode)
    FROM todos t LEFT JOIN interrupts q ON q.id = t.open_interrupt_id
    WHERE (t.owner IS NOT NULL) <> (t.state = 'claimed' OR q.mode IS NOT DISTINCT FROM 'hold')
      OR (t.owner IS NULL) <> (t.lease_expires_at IS NULL) OR (t.owner IS NULL) <> (t.owner_endpoint_id IS NULL)`,
  'spent within the allowance, used up only where a todo has ended or is about to': `
    SELECT t.id, format('%s, spent %s of %s', t.state, t.failures + t.lease_expirations, t.max_attempts) FROM todos t
    WHERE t.failures + t.lease_expirations > t.max_attempts
      OR t.failures + t.lease_expirations = t.max_attempts AND t.state NOT IN ('pending', ${literals(TERMINAL)})`,
  'no pending todo that nobody may ever claim and no sweep ends': `
    SELECT t.id, format('%s of %s waits expired', t.wait_expirations, t.max_attempts) FROM todos t
    WHERE t.state = 'pending' AND t.wait_expirations >= t.max_attempts
      AND t.failures + t.lease_expirations < t.max_attempts`,
  'no live todo that only a revoked endpoint may claim': `
    SELECT t.id, format('%s, assigned to %s', t.state, n.name) FROM todos t
    JOIN endpoints n ON n.id = t.assignee_endpoint_id AND n.revoked_at IS NOT NULL WHERE t.state IN (${literals(LIVE)})`,
  'the live children are those counted': `
    SELECT t.id, format('%s counted, %s live', t.live_children, n) FROM todos t
    CROSS JOIN LATERAL (SELECT count(*) AS n FROM todos c WHERE c.parent_id = t.id AND c.state IN (${literals(LIVE)})) c
    WHERE n <> t.live_children`,
  'one event for each transition, each from where the one before ended': `
    SELECT e.todo_id, format('event %s %s from %s after %s', e.id, e.verb, e.from_state, e.before) FROM (
      SELECT *, lag(to_state) OVER earlier AS before, row_number() OVER earlier AS n FROM todo_events
      WHERE todo_id IS NOT NULL AND to_state IS NOT NULL WINDOW earlier AS (PARTITION BY todo_id ORDER BY id)) e
    WHERE e.n > 1 AND e.from_state IS DISTINCT FROM e.before`,
  'the last event tells the state': `
    SELECT t.id, format('%s after an event to %s', t.state, e.to_state) FROM todos t
    CROSS JOIN LATERAL (SELECT to_state FROM todo_events
      WHERE todo_id = t.id AND to_state IS NOT NULL ORDER BY id DESC LIMIT 1) e
    WHERE e.to_state <> t.state`,
  'one version for each change that is told': `
    SELECT t.id, format('version %s after %s events', t.version, count(*)) FROM todos t
    JOIN todo_events e ON e.todo_id = t.id AND (${CHANGES})
    WHERE NOT EXISTS (SELECT FROM todos c WHERE c.parent_id = t.id)
    GROUP BY t.id HAVING bool_or(e.verb = 'created') AND ${IS_WHOLE} AND count(*) <> t.version`,
  'a version more for each statement that changed the number of its children': `
    SELECT t.id, format('version %s after %s events and %s changes of children', t.version, e.n, c.n)
    FROM (SELECT id, version FROM todos WHERE id IN (SELECT parent_id FROM todos WHERE parent_id IS NOT NULL)) t
    CROSS JOIN LATERAL (SELECT count(*) AS n, bool_or(verb = 'created') AND ${IS_WHOLE} AS whole FROM todo_events e
      WHERE e.todo_id = t.id AND (${CHANGES})) e
    CROSS JOIN LATERAL (SELECT sum(o.n) AS n FROM todos c CROSS JOIN LATERAL (
        SELECT count(*) AS n FROM todo_events e WHERE e.todo_id = c.id AND (e.verb = 'created'
          OR e.to_state IN (${literals(TERMINAL)}) OR e.from_state IN (${literals(TERMINAL)}))) o
      WHERE c.parent_id = t.id) c
    WHERE e.whole AND c.n > 0 AND t.version NOT BETWEEN e.n + 1 AND e.n + c.n`,
  'nobody waits for children that have all ended': `
    SELECT id, 'waits for nobody' FROM todos WHERE state = 'waiting' AND live_children = 0`,
  'no live todo is a part of one that has ended': `
    SELECT c.id, format('its parent is %s', p.state) FROM todos c JOIN todos p ON p.id = c.parent_id
    WHERE c.state IN (${literals(LIVE)}) AND p.state IN (${literals(TERMINAL)})`,
  'an expiration for each time the reaper took it back': `
    SELECT t.id, format('%s expirations, %s events', t.lease_expirations, n) FROM todos t
    CROSS JOIN LATERAL (SELECT count(*) AS n FROM todo_events e
      WHERE e.todo_id = t.id AND e.data ? 'reclaimed_epoch') e
    WHERE n <> t.lease_expirations`,
  'a wait expired for each time nobody answered a parked question': `
    SELECT t.id, format('%s waits expired, %s events', t.wait_expirations, n) FROM todos t
    CROSS JOIN LATERAL (SELECT count(*) AS n FROM todo_events e WHERE e.todo_id = t.id AND e.reason = 'wait_expired') e
    WHERE n <> t.wait_expirations`,
  'the open attempt of a parked question is that of who asked it': `
    SELECT t.id, format('attempt %s asked, attempt %s is open', q.attempt_seq, a.seq) FROM todos t
    JOIN interrupts q ON q.id = t.open_interrupt_id JOIN todo_attempts a ON a.todo_id = t.id AND a.ended_at IS NULL
    WHERE a.seq <> q.attempt_seq OR a.lease_epoch <> q.lease_epoch OR a.endpoint_id <> q.requested_by_endpoint_id`,
  'an effect is begun by a claim there was': `
    SELECT t.id, format('effect %s of epoch %s, the last is %s', e.key, e.lease_epoch, t.lease_epoch)
    FROM effects e JOIN todos t ON t.id = e.todo_id WHERE e.lease_epoch NOT BETWEEN 1 AND t.lease_epoch`,
  'nobody is asked whether an effect happened that is known to have, or not to': `
    SELECT q.todo_id, format('question %s asks about %s, which is %s', q.id, e.key, e.status)
    FROM interrupts q JOIN effects e ON e.todo_id = q.todo_id AND e.key = q.effect_key
    WHERE q.status = 'open' AND e.status <> 'begun'`,
  'the last event of an effect tells how it stands': `
    SELECT f.todo_id, format('effect %s is %s after %s', f.key, f.status, e.told) FROM effects f
    LEFT JOIN LATERAL (SELECT coalesce(data ->> 'status', 'begun') AS told FROM todo_events
      WHERE todo_id = f.todo_id AND ${OF_EFFECTS} AND data ->> 'effect_id' = f.id ORDER BY id DESC LIMIT 1) e ON true
    WHERE e.told IS DISTINCT FROM f.status`,
  'nothing is begun again that was done, or may not be done twice and perhaps was': `
    SELECT e.todo_id, format('event %s begins effect %s after %s', e.id, e.data ->> 'key', e.before) FROM (
      SELECT *, lag(coalesce(data ->> 'status', 'begun')) OVER earlier AS before,
        lag((data ->> 'idempotent')::boolean, 1, true) OVER earlier AS could_repeat
      FROM todo_events WHERE todo_id IS NOT NULL AND ${OF_EFFECTS}
      WINDOW earlier AS (PARTITION BY data ->> 'effect_id' ORDER BY id)) e
    WHERE e.verb = 'effect_begun' AND (e.before = 'confirmed'
      OR e.before = 'begun' AND NOT (e.could_repeat AND (e.data ->> 'idempotent')::boolean))`,
  'an approval covers one effect': `
    SELECT todo_id, format('approval %s was used by %s', data ->> 'interrupt_id', string_agg(DISTINCT data ->> 'key', ', '))
    FROM todo_events WHERE verb = 'effect_begun' AND data ->> 'interrupt_id' IS NOT NULL
    GROUP BY todo_id, data ->> 'interrupt_id' HAVING count(DISTINCT data ->> 'key') > 1`,
}

const BREACHES = Object.entries(RULES)
  .map(([rule, rows]) => `SELECT '${rule}' AS rule, b.todo_id, b.found FROM (${rows}) AS b(todo_id, found)`)
  .join('\nUNION ALL ')

/** Every row that breaks an invariant of the model, at most 100; none in a healthy database. Reads every todo. */
export const breaches = (db: Db): Promise<Breach[]> => db.query<Breach>({ text: `${BREACHES} LIMIT 100` })
