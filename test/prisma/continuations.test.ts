import type { Client } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { STATE_NAMES, type State } from '#lib/model/states'
import { readMigrations } from '../../prisma/folder'
import { down, up } from '../../prisma/runner'
import { emptyDatabase } from '../support/empty-database'

const { session } = emptyDatabase()
const migrations = readMigrations()
const at = migrations.findIndex(({ name }) => name.endsWith('_continuations'))
const before = migrations.slice(0, at)
const until = migrations.slice(0, at + 1)
let client: Client

const EFFECTS = ['begun', 'confirmed', 'failed'] as const

/** A todo in this state with one effect of each status, the first begun by an attempt that has been pruned. */
async function insert(state: State): Promise<void> {
  const isInterrupt = state.endsWith('-required')
  const isHeld = isInterrupt || state === 'claimed'
  const isOver = !isHeld && state !== 'pending' && state !== 'waiting'
  await client.query(
    `INSERT INTO todos (id, queue, title, state, attempts, lease_epoch, max_attempts, lease_seconds, live_children,
       owner, owner_endpoint_id, lease_expires_at, open_interrupt_id, interrupted_at, completed_at, error)
     VALUES ($1, 'q', $1, $1, 2, 2, 3, 60, CASE WHEN $1 = 'waiting' THEN 1 ELSE 0 END, CASE WHEN $2 THEN 'e/w' END,
       CASE WHEN $2 THEN 'e' END, CASE WHEN $2 THEN now() END, CASE WHEN $3 THEN $1 END, CASE WHEN $3 THEN now() END,
       CASE WHEN $4 THEN now() END, CASE WHEN $1 = 'failed' THEN '{"code": "x", "message": "x"}'::jsonb END)`,
    [state, isHeld, isInterrupt, isOver],
  )
  await client.query(
    `INSERT INTO todo_attempts (todo_id, seq, lease_epoch, owner, endpoint_id, ended_at, outcome, disposition)
     VALUES ($1, 2, 2, 'e/w', 'endpoint-2', CASE WHEN $2 THEN NULL ELSE now() END,
       CASE WHEN $2 THEN NULL ELSE 'completed' END, CASE WHEN $2 THEN NULL ELSE 'done' END)`,
    [state, isHeld || state === 'waiting'],
  )
  await client.query(
    `INSERT INTO interrupts (id, todo_id, attempt_seq, lease_epoch, kind, mode, status, title, schema, proposal, requested_by_endpoint_id)
     VALUES ($1, $1, 2, 2, 'input', 'hold', $2, 'Which?', $3, $4, 'endpoint-2')`,
    [
      state,
      isInterrupt ? 'open' : 'canceled',
      '{"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}}',
      '{"action": "pay", "arguments": {"z": 1, "a": 2}}',
    ],
  )
  for (const [epoch, status] of EFFECTS.entries()) {
    await client.query(
      `INSERT INTO effects (id, todo_id, key, idempotent, status, lease_epoch, ended_at)
       VALUES ($1 || $2, $1, $2, false, $2, $3, CASE WHEN $2 = 'begun' THEN NULL ELSE now() END)`,
      [state, status, epoch + 1],
    )
  }
}

async function stored(): Promise<unknown> {
  const { rows } = await client.query(
    `SELECT to_jsonb(t) AS todo, to_jsonb(q) AS question,
       (SELECT jsonb_agg(to_jsonb(e) ORDER BY e.key) FROM effects e WHERE e.todo_id = t.id) AS effects
     FROM todos t JOIN interrupts q ON q.todo_id = t.id ORDER BY t.id`,
  )
  return rows
}

let first: unknown

beforeAll(async () => {
  client = await session()
  await up(client, { migrations: before })
  for (const state of STATE_NAMES) await insert(state)
  first = await stored()
  await up(client, { migrations: until })
})

test('an effect learns who began it from the attempt, where that is still there, and nobody gets what is not known', async () => {
  const { rows } = await client.query('SELECT DISTINCT key, endpoint_id FROM effects ORDER BY key')
  expect(rows).toEqual([
    { key: 'begun', endpoint_id: '' },
    { key: 'confirmed', endpoint_id: 'endpoint-2' },
    { key: 'failed', endpoint_id: '' },
  ])
})

test('in every state it is taken back and applied again, and everything is as it was', async () => {
  const after = await stored()
  await down(client, before.at(-1)?.name ?? null, { migrations: until })
  expect(await stored()).toEqual(first)
  await up(client, { migrations: until })
  expect(await stored()).toEqual(after)
})

test('an effect that has ended says when, and one that is begun doesn’t', async () => {
  const ends = (status: string, endedAt: string) =>
    client.query(`UPDATE effects SET status = '${status}', ended_at = ${endedAt} WHERE id = 'claimedbegun'`)
  await expect(ends('confirmed', 'NULL')).rejects.toMatchObject({ constraint: 'effects_ended_check' })
  await expect(ends('begun', 'now()')).rejects.toMatchObject({ constraint: 'effects_ended_check' })
})

test('an approval covers one effect', async () => {
  await client.query(`UPDATE effects SET interrupt_id = 'claimed' WHERE id = 'claimedbegun'`)
  const second = client.query(`UPDATE effects SET interrupt_id = 'claimed' WHERE id = 'claimedfailed'`)
  await expect(second).rejects.toMatchObject({ constraint: 'effects_interrupt' })
})
