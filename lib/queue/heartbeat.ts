import type { Db } from '#lib/db/connect'
import type { EndpointCaller } from '#lib/wire/caller'
import { exceedBudgets } from './budget'
import type { BatchResult } from './complete'
import { firstMentions, HELD_BY, HELD_INPUT, heldRow } from './held'
import { givenSql } from './move'
import { type Usage, usageSql } from './usage'
import { type Held, whyNotHeld } from './why-not'

/** What a beat brings besides the lease. */
export interface Beat extends Held {
  /** Becomes the todo's from now on. */
  leaseSeconds?: number | undefined
  progress?: unknown
  checkpoint?: unknown
  usage?: Usage | undefined
}

/** How the lease stands after a beat. */
export interface Beaten {
  lease_expires_at: string | null
  /** `failed` tells the worker to stop: it is over its budget. */
  state: 'claimed' | 'failed'
}

const BEAT = {
  id: 'text',
  ...HELD_INPUT,
  lease_seconds: 'integer',
  progress: 'jsonb',
  checkpoint: 'jsonb',
  usage: 'jsonb',
}

// No event and no new version: a beat says only that somebody is there. Only unindexed columns, so it stays HOT.
const HEARTBEAT = `WITH i AS MATERIALIZED (${givenSql(BEAT)}),
  p AS MATERIALIZED (
    SELECT t.id AS todo_id, i.lease_seconds, i.progress, i.checkpoint, i.usage FROM i JOIN todos t ON t.id = i.id
    WHERE (t.state = 'claimed') IS TRUE AND ${HELD_BY} ORDER BY t.depth, t.id FOR UPDATE OF t),
  beaten AS (
    UPDATE todos t SET
      lease_seconds = coalesce(p.lease_seconds, t.lease_seconds),
      lease_expires_at = greatest(t.lease_expires_at,
        now() + make_interval(secs => coalesce(p.lease_seconds, t.lease_seconds))),
      progress = coalesce(p.progress, t.progress), checkpoint = coalesce(p.checkpoint, t.checkpoint),
      usage = ${usageSql('p.usage')}, updated_at = now()
    FROM p WHERE t.id = p.todo_id RETURNING t.id, t.lease_epoch, t.attempts, t.lease_expires_at),
  seen AS (
    UPDATE todo_attempts a SET last_heartbeat_at = now() FROM beaten b
    WHERE a.todo_id = b.id AND a.seq = b.attempts AND (a.ended_at IS NULL) IS TRUE)
  SELECT id, lease_epoch, lease_expires_at FROM beaten`

interface BeatenRow {
  id: string
  lease_epoch: number
  lease_expires_at: string
}

function beat(db: Db, beats: readonly Beat[]): Promise<BeatenRow[]> {
  const rows = beats.map(({ leaseSeconds, progress, checkpoint, usage, ...held }) =>
    heldRow(held, { lease_seconds: leaseSeconds, progress, checkpoint, usage }),
  )
  return db.query<BeatenRow>({ name: 'heartbeat', text: HEARTBEAT, values: [JSON.stringify(rows)] })
}

/** Keeps the lease: to now plus its seconds, never shorter than it was. Refuses as complete does. */
export async function heartbeat(db: Db, one: Beat, caller: EndpointCaller): Promise<Beaten> {
  const [over] = await exceedBudgets(db, [one])
  if (over) return { lease_expires_at: null, state: 'failed' }
  const [row] = await beat(db, [one])
  if (row) return { lease_expires_at: row.lease_expires_at, state: 'claimed' }
  throw await whyNotHeld(db, one, caller, 'heartbeat')
}

/** Beats for many in one statement; a lost lease doesn't touch the others. Answers in order. */
export async function heartbeatMany(db: Db, beats: Beat[], caller: EndpointCaller): Promise<BatchResult[]> {
  const over = new Map((await exceedBudgets(db, firstMentions(beats))).map((todo) => [todo.id, todo.lease_epoch]))
  const alive = new Map((await beat(db, firstMentions(beats))).map((row) => [row.id, row.lease_epoch]))
  return Promise.all(
    beats.map(async (held) => {
      if (alive.get(held.id) === held.leaseEpoch) return { id: held.id, ok: true }
      if (over.get(held.id) === held.leaseEpoch) return { id: held.id, ok: false, code: 'todo_terminal' }
      const { code } = await whyNotHeld(db, held, caller, 'heartbeat')
      return { id: held.id, ok: false, code }
    }),
  )
}
