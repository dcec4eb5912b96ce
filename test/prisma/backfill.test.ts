import type { Client } from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { readMigrations } from '../../prisma/folder'
import { down, up } from '../../prisma/runner'
import { emptyDatabase } from '../support/empty-database'

const { session } = emptyDatabase()
const [init] = readMigrations()
let client: Client

/** A todo as the first schema had it; `reclaimed` are the verbs of the reaper's events that took it back. */
interface Old {
  id: string
  state: 'pending' | 'claimed' | 'input-required' | 'auth-required' | 'failed' | 'completed'
  attempts?: number
  failures?: number
  maxAttempts?: number
  reclaimed?: ('requeued' | 'failed')[]
}

const TODOS: Old[] = [
  { id: 'asked', state: 'input-required', attempts: 1 },
  { id: 'asked for a sign-in', state: 'auth-required', attempts: 1 },
  { id: 'claimed often', state: 'pending', attempts: 3 },
  { id: 'reclaimed twice', state: 'pending', attempts: 2, reclaimed: ['requeued', 'requeued'] },
  { id: 'over its limit', state: 'pending', attempts: 4, failures: 1, reclaimed: ['requeued', 'requeued', 'requeued'] },
  { id: 'at work on its last', state: 'claimed', attempts: 4, reclaimed: ['requeued', 'requeued', 'requeued'] },
  { id: 'dead', state: 'failed', attempts: 3, reclaimed: ['requeued', 'requeued', 'failed'] },
  { id: 'dead beyond its limit', state: 'failed', attempts: 5, failures: 2, reclaimed: ['requeued', 'failed'] },
  { id: 'failed by its worker', state: 'failed', attempts: 3, failures: 3 },
]

async function insert({ id, state, attempts = 0, failures = 0, maxAttempts = 3, reclaimed = [] }: Old): Promise<void> {
  const isHeld = !['pending', 'failed', 'completed'].includes(state)
  await client.query(
    `INSERT INTO todos (id, queue, title, state, attempts, failures, max_attempts, lease_seconds, updated_at,
       owner, owner_endpoint_id, lease_expires_at, open_interrupt_id, completed_at, error)
     VALUES ($1, 'q', $1, $2, $3, $4, $5, 60, '2026-01-02T03:04:05Z',
       CASE WHEN $6 THEN 'e/w' END, CASE WHEN $6 THEN 'e' END, CASE WHEN $6 THEN now() END,
       CASE WHEN $2 LIKE '%-required' THEN 'i' END, CASE WHEN $2 = 'failed' THEN now() END,
       CASE WHEN $2 = 'failed' THEN '{"code": "x", "message": "x"}'::jsonb END)`,
    [id, state, attempts, failures, maxAttempts, isHeld],
  )
  for (const verb of reclaimed) await logged(id, 'reaper', verb, '{"reclaimed_epoch": 1}')
}

async function logged(id: string, actor: string, verb: string, data = '{}'): Promise<void> {
  await client.query('INSERT INTO todo_events (todo_id, actor, verb, data) VALUES ($1, $2, $3, $4)', [
    id,
    actor,
    verb,
    data,
  ])
}

async function counted(): Promise<Record<string, unknown>> {
  const { rows } = await client.query(
    `SELECT id, state, lease_expirations AS expirations, max_attempts AS max FROM todos ORDER BY id`,
  )
  return Object.fromEntries(rows.map(({ id, ...rest }) => [id, rest]))
}

beforeAll(async () => {
  client = await session()
  await up(client, { migrations: init ? [init] : [] })
  for (const todo of TODOS) await insert(todo)
  // None of these took an execution back from a worker that was gone.
  await logged('claimed often', 'worker:e/w', 'claimed')
  await logged('failed by its worker', 'worker:e/w', 'failed', '{"reclaimed_epoch": 1}')
  await logged('claimed often', 'reaper', 'requeued', '{"wait_expirations": 1}')
  await logged('claimed often', 'user:1', 'requeued', '{"reclaimed_epoch": 1}')
  await up(client)
})

test('open questions are aged from the last moment anything was known of them, and nothing else is', async () => {
  const { rows } = await client.query(
    'SELECT id, interrupted_at FROM todos WHERE interrupted_at IS NOT NULL ORDER BY id',
  )
  const asked = new Date('2026-01-02T03:04:05Z')
  expect(rows).toEqual([
    { id: 'asked', interrupted_at: asked },
    { id: 'asked for a sign-in', interrupted_at: asked },
  ])
})

test('expirations are those the reaper recorded: claims and a worker’s own failures are not', async () => {
  expect(await counted()).toMatchObject({
    'claimed often': { state: 'pending', expirations: 0, max: 3 },
    'reclaimed twice': { state: 'pending', expirations: 2, max: 3 },
    'failed by its worker': { state: 'failed', expirations: 0, max: 3 },
    dead: { state: 'failed', expirations: 3, max: 3 },
  })
})

test('where more was spent than allowed, the allowance is raised to it, and what has ended stays ended', async () => {
  expect(await counted()).toMatchObject({
    'over its limit': { state: 'pending', expirations: 3, max: 4 },
    'dead beyond its limit': { state: 'failed', expirations: 2, max: 4 },
  })
})

test('a todo that a worker has in hand keeps the execution it is in', async () => {
  expect(await counted()).toMatchObject({ 'at work on its last': { state: 'claimed', expirations: 3, max: 4 } })
})

test('taken back and applied again the migrations come to the same numbers', async () => {
  const before = await counted()
  await down(client, init?.name ?? null)
  await up(client)
  expect(await counted()).toEqual(before)
})
