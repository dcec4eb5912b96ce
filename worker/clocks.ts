import type { Db } from '#lib/db/connect'
import { INTERRUPTS, LIVE, STATES } from '#lib/model/states'
import type { WaitTtls } from '#lib/queue/expire'
import { literals } from '#lib/queue/move'
import { TIME_IS_UP } from '#lib/queue/usage'
import type { Card } from '#lib/wire/todo'

/** How long the reaper sleeps at most. */
export const LONGEST_SLEEP_SECONDS = 30

/** When the reaper is next needed, by the database's clock. */
export interface Clocks {
  now: string
  /** `now`, in seconds since 1970. */
  nowSeconds: number
  /** The earliest clock of a live todo or an endpoint, or the longest sleep from now if that is earlier. */
  wakeAt: string
  /** How far `wakeAt` is off; negative when something is overdue. */
  wakeInMs: number
  /** Whether a todo became available by time alone since the last look. */
  cameDue: boolean
}

export interface Looking {
  /** The deadlines of questions in force. */
  ttls: WaitTtls
  /** Todos whose clocks don't count. */
  except: readonly string[]
  /** `now` of the last look; null for the first. */
  since: string | null
}

/** When a todo, as it is now, next needs the reaper; null when it needs none. */
export function clockOf(todo: Card, ttls: WaitTtls): string | null {
  const own = ownClockOf(todo, ttls)
  return STATES[todo.state].kind === 'terminal' ? own : earlier(own, todo.deadline_at)
}

const earlier = (one: string | null, other: string | null): string | null =>
  one !== null && (other === null || one < other) ? one : other

function timeIsUp({ budget, usage, state_since }: Card): string | null {
  if (budget?.max_seconds === undefined) return null
  const leftSeconds = budget.max_seconds - (usage?.total.seconds ?? 0)
  return new Date(Date.parse(state_since) + leftSeconds * 1000).toISOString()
}

function ownClockOf(todo: Card, ttls: WaitTtls): string | null {
  if (todo.state === 'waiting') return todo.live_children === 0 ? todo.state_since : null
  if (todo.state === 'claimed') return earlier(todo.lease_expires_at, timeIsUp(todo))
  if (todo.state === 'pending') {
    if (todo.failures + todo.lease_expirations >= todo.max_attempts) return todo.state_since
    return todo.available_at > todo.state_since ? todo.available_at : null
  }
  const ttlSeconds = todo.owner === null ? ttls.parked : ttls.held
  if (STATES[todo.state].kind !== 'interrupt' || ttlSeconds <= 0 || !todo.interrupted_at) return null
  const expiresAt = new Date(Date.parse(todo.interrupted_at) + ttlSeconds * 1000).toISOString()
  return todo.wait_until && todo.wait_until > expiresAt ? todo.wait_until : expiresAt
}

// Beyond so many todos of paused queues the look stops: it then wakes at the last of them and looks again.
const AHEAD = 100

const COUNTS = 't.id <> ALL($2::text[]) AND (t.deadline_at IS NULL OR t.deadline_at >= now())'

const WAITS = `t.state IN (${literals(INTERRUPTS)})`

// The oldest of those nobody gave more time, which the index finds at once, and each of the few that were.
const earliestWait = (whose: string, ttl: string): string => `
  (SELECT t.interrupted_at + make_interval(secs => ${ttl}) FROM todos t
    WHERE ${WAITS} AND ${whose} AND t.wait_until IS NULL AND ${ttl} > 0 AND ${COUNTS} ORDER BY t.interrupted_at LIMIT 1),
  (SELECT min(greatest(t.interrupted_at + make_interval(secs => ${ttl}), t.wait_until)) FROM todos t
    WHERE ${WAITS} AND ${whose} AND t.wait_until IS NOT NULL AND ${ttl} > 0 AND ${COUNTS})`

// The same rules as `clockOf`, and the ends of endpoints. Each part reads live rows only, by a partial index.
const EARLIEST = `least(
  (SELECT min(t.deadline_at) FROM todos t WHERE t.state IN (${literals(LIVE)}) AND t.deadline_at IS NOT NULL
    AND t.id <> ALL($2::text[])),
  (SELECT min(t.lease_expires_at) FROM todos t WHERE t.state = 'claimed' AND ${COUNTS}),
  (SELECT min(t.state_since) FROM todos t WHERE t.state = 'waiting' AND (t.live_children = 0) IS TRUE AND ${COUNTS}),
  (SELECT min(${TIME_IS_UP}) FROM todos t WHERE t.state = 'claimed' AND (t.budget ? 'max_seconds') IS TRUE AND ${COUNTS}),
  ${earliestWait('t.owner IS NOT NULL', '$1')},
  ${earliestWait('t.owner IS NULL', '$4::bigint')},
  (SELECT min(t.state_since) FROM todos t
    WHERE t.state = 'pending' AND (t.failures + t.lease_expirations >= t.max_attempts) IS TRUE AND ${COUNTS}),
  (SELECT coalesce(min(d.available_at) FILTER (WHERE NOT d.paused), CASE WHEN count(*) = ${AHEAD} THEN max(d.available_at) END)
    FROM (SELECT t.available_at, q.paused FROM todos t JOIN queues q ON q.name = t.queue
      WHERE t.state = 'pending' AND t.available_at > now() ORDER BY t.available_at LIMIT ${AHEAD}) d),
  (SELECT min(n.expires_at) FROM endpoints n WHERE n.revoked_at IS NULL AND n.expires_at IS NOT NULL))`

const CAME_DUE = `EXISTS (SELECT FROM todos t JOIN queues q ON q.name = t.queue WHERE t.state = 'pending'
  AND t.available_at > $3::timestamptz AND t.available_at <= now() AND NOT q.paused)`

const LOOK = `SELECT now() AS now, extract(epoch FROM now())::float8 AS now_seconds, c.wake_at,
    (extract(epoch FROM c.wake_at - clock_timestamp()) * 1000)::float8 AS wake_in_ms,
    coalesce(${CAME_DUE}, false) AS came_due
  FROM (SELECT least(${EARLIEST}, now() + make_interval(secs => ${LONGEST_SLEEP_SECONDS})) AS wake_at) c`

/** Looks for the earliest clock of all live todos and of endpoints. */
export async function readClocks(db: Db, { ttls, except, since }: Looking): Promise<Clocks> {
  const values = [ttls.held, except, since, ttls.parked]
  const [row] = await db.query<ClockRow>({ name: 'clocks', text: LOOK, values })
  if (!row) throw new Error('The look at the clocks returned nothing')
  return {
    now: row.now,
    nowSeconds: row.now_seconds,
    wakeAt: row.wake_at,
    wakeInMs: row.wake_in_ms,
    cameDue: row.came_due || since === null,
  }
}

interface ClockRow {
  now: string
  now_seconds: number
  wake_at: string
  wake_in_ms: number
  came_due: boolean
}
