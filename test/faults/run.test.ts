import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client as PgClient } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createEndpoint } from '#lib/auth/endpoints'
import { connect } from '#lib/db/connect'
import { type Client, connect as connectClient } from '#lib/sdk/sdk'
import { SCOPES, type Scope } from '#lib/wire/caller'
import { type Postgres, startPostgres } from '#scripts/postgres.mjs'
import { up } from '../../prisma/runner'
import { freePort } from '../support/free-port'
import { invariants } from '../support/invariants'
import { times } from '../support/numbers'
import { type Kept, keep } from './kept'

vi.setConfig({ testTimeout: times(120_000, 900_000), hookTimeout: 60_000 })

const TODOS = times(80, 2000)
const FAULTS = times(7, 300)
const WORKERS = 4
// Longer than any of the faults keeps a living worker from the server.
const LEASE_SECONDS = times(6, 8)
const FAULT_MS = 1000

// As root the server runs as another user, who must be able to pass through.
const home = mkdtempSync(join(tmpdir(), 'switchboard-faults-'))
chmodSync(home, 0o755)

let postgres: Postgres
const all: Kept[] = []
const startDatabase = () => startPostgres({ dataDir: join(home, 'postgres'), settings: { fsync: 'off' } })

beforeAll(async () => {
  postgres = await startDatabase()
  const client = new PgClient({ connectionString: postgres.url })
  await client.connect()
  await up(client)
  await client.end()
})

afterAll(async () => {
  for (const one of all) await one.end()
  await postgres.stop({ remove: true })
  rmSync(home, { recursive: true, force: true })
})

test('with a fault every second each todo ends exactly once, and only executions that were killed are taken back', async () => {
  const { client, workers, web, reaper } = await staffed()
  for (let from = 0; from < TODOS; from += 500) {
    const todos = Array.from({ length: Math.min(500, TODOS - from) }, (_, at) => ({
      queue: 'faults',
      title: `Todo ${from + at}`,
      payload: { n: from + at },
      idempotency_key: `todo-${from + at}`,
      max_attempts: 1000,
    }))
    await client.enqueueMany({ todos })
  }
  const isOver = new AbortController()
  const answering = answerAll(client, isOver.signal)
  const stopped = await breakThings({ client, workers, web, reaper })
  await expect.poll(() => liveCount(client), { timeout: times(90_000, 300_000), interval: 500 }).toBe(0)
  isOver.abort()
  await answering
  for (const one of all) await one.end()
  expect(all.flatMap(({ fell }) => fell)).toEqual([])
  await endsWell(new Set([...workers.flatMap(({ names }) => names.slice(0, -1))]), stopped)
})

async function staffed() {
  const port = await freePort()
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production' as const,
    DATABASE_URL: postgres.url,
    SWITCHBOARD_LOG_LEVEL: 'fatal',
  }
  const url = `http://127.0.0.1:${port}`
  const db = connect({ databaseUrl: postgres.url, max: 1 })
  const token = async (name: string, scopes: readonly Scope[]) =>
    (await createEndpoint(db, { name, scopes: [...scopes] })).token
  const [boss, hand] = [await token('boss', SCOPES), await token('hand', ['work'])]
  await db.close()
  const kept = (name: string, how: Parameters<typeof keep>[1]) => {
    const one = keep(name, how)
    all.push(one)
    return one
  }
  const web = kept('web', { program: 'test/api/web-child.ts', env: { ...env, SWITCHBOARD_PORT: String(port) } })
  const workerPort = String(await freePort())
  const reaper = kept('reaper', { program: 'worker/main.ts', env: { ...env, SWITCHBOARD_PORT: workerPort } })
  await expect.poll(() => isUp(url), { timeout: 30_000 }).toBe(true)
  const hands = Array.from({ length: WORKERS }, (_, n) =>
    kept(`worker-${n}`, {
      program: 'test/faults/worker-process.ts',
      args: (name) => [name, String(LEASE_SECONDS)],
      env: { PATH: env.PATH, NODE_ENV: env.NODE_ENV, SWITCHBOARD_URL: url, SWITCHBOARD_TOKEN: hand },
    }),
  )
  return { client: connectClient({ url, token: boss, retrySeconds: 60 }), workers: hands, web, reaper }
}

const isUp = (url: string) =>
  fetch(`${url}/readyz`).then(
    () => true,
    () => false,
  )

interface Things {
  client: Client
  workers: readonly Kept[]
  web: Kept
  reaper: Kept
}

/** One fault a second until nothing is left to do, or so many have been; gives how often each kind of thing was killed. */
async function breakThings({ client, workers, web, reaper }: Things): Promise<Record<string, number>> {
  const count: Record<string, number> = { worker: 0, web: 0, reaper: 0, database: 0 }
  const kinds = ['worker', 'web', 'worker', 'database', 'worker', 'reaper', 'worker'] as const
  await expect.poll(() => doneCount(client), { timeout: 60_000, interval: 100 }).toBeGreaterThan(0)
  for (let fault = 0; fault < FAULTS && (await liveCount(client)) > 0; fault += 1) {
    const next = sleep(FAULT_MS)
    const kind = kinds[fault % kinds.length] ?? 'worker'
    count[kind] = (count[kind] ?? 0) + 1
    if (kind === 'web') await web.kill()
    else if (kind === 'reaper') await reaper.kill()
    else if (kind === 'database') await killDatabase()
    else await workers[(count.worker ?? 0) % WORKERS]?.kill()
    await next
  }
  return count
}

async function killDatabase(): Promise<void> {
  process.kill(postgres.pid, 'SIGKILL')
  await postgres.exited
  postgres = await startDatabase()
}

const LIVE_STATES = ['pending', 'claimed', 'input-required', 'auth-required', 'waiting'] as const

async function liveCount(client: Client): Promise<number> {
  const { counts } = await client.listTodos({ queue: 'faults', limit: 1 })
  return LIVE_STATES.reduce((sum, state) => sum + counts[state].count, 0)
}

const doneCount = async (client: Client): Promise<number> =>
  (await client.listTodos({ queue: 'faults', limit: 1 })).counts.completed.count

async function answerAll(client: Client, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { interrupts } = await client.listInterrupts({ limit: 100 }).catch(() => ({ interrupts: [] }))
    for (const { id } of interrupts) await client.answerInterrupt({ id, content: { answer: 'Yes' } }).catch(() => {})
    await sleep(100, undefined, { signal }).catch(() => {})
  }
}

async function endsWell(killed: ReadonlySet<string>, stopped: Record<string, number>): Promise<void> {
  const db = connect({ databaseUrl: postgres.url, max: 1 })
  const read = <Row>(text: string) => db.query<Row>({ text })
  try {
    expect(await read('SELECT state, count(*)::int AS n FROM todos GROUP BY 1')).toEqual([
      { state: 'completed', n: TODOS },
    ])
    expect(
      await read(`SELECT todo_id FROM todo_events WHERE verb = 'completed' GROUP BY 1 HAVING count(*) > 1`),
    ).toEqual([])
    expect(await read(`SELECT id FROM todos WHERE result <> payload -> 'n'`)).toEqual([])
    expect(await read(`SELECT id FROM todos WHERE failures > 0`)).toEqual([])
    const reaped = await read<{ name: string; n: number }>(
      `SELECT split_part(owner, '/', 2) AS name, count(*)::int AS n FROM todo_attempts WHERE outcome = 'reaped' GROUP BY 1`,
    )
    expect(reaped.map(({ name }) => name).filter((name) => !killed.has(name))).toEqual([])
    const [expired] = await read<{ n: number }>('SELECT sum(lease_expirations)::int AS n FROM todos')
    expect(expired?.n).toBe(reaped.reduce((sum, { n }) => sum + n, 0))
    expect(expired?.n).toBeGreaterThan(0)
    expect(stopped).toMatchObject({ web: expect.any(Number), database: expect.any(Number) })
    expect(await invariants(db)).toEqual([])
    process.stdout.write(`${TODOS} todos, killed: ${JSON.stringify(stopped)}; ${expired?.n} executions taken back\n`)
  } finally {
    await db.close()
  }
}
