import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { Client } from 'pg'
import { createEndpoint } from '#lib/auth/endpoints'
import { connect, type Database } from '#lib/db/connect'
import { enqueue } from '#lib/queue/enqueue'
import type { Caller } from '#lib/wire/caller'
import { startPostgres } from '#scripts/postgres.mjs'
import { removeCluster } from '#scripts/postgres-cluster.mjs'
import { up } from '../prisma/runner'

// From a transition's commit to its frame at a client: transitions at a steady rate made by one process, the streams of
// another, on a PostgreSQL of its own. Prints a line for each rate.

const CLIENTS = 5
const RATES = [20, 1000]
const SECONDS = 10
const MAKER: Caller = { type: 'person', id: 'bench', name: 'bench', role: 'operator', queues: null, channel: 'web' }

/** When each todo's making was acknowledged, and when each client's frame of it came with the time it was made at. */
interface Seen {
  acknowledged: Map<string, number>
  came: { id: string; at: number; made: number }[]
}

const clock = () => performance.timeOrigin + performance.now()

async function web(databaseUrl: string) {
  const env = { ...process.env, DATABASE_URL: databaseUrl, SWITCHBOARD_PORT: '0', NODE_ENV: 'production' as const }
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/bench-stream-web.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line)
    if (!url) continue
    child.stdout.resume()
    return {
      url: url as string,
      stop: async () => {
        child.kill('SIGTERM')
        if (child.exitCode === null) await once(child, 'exit')
      },
    }
  }
  throw new Error('The web process did not start')
}

async function watch(url: string, token: string, seen: () => Seen): Promise<void> {
  const response = await fetch(`${url}/api/v1/events`, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok || !response.body) throw new Error(`The stream was answered with ${response.status}`)
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event !== 'transition') return
      const { todo, at } = JSON.parse(data)
      seen().came.push({ id: todo.id, at: clock(), made: Date.parse(at) })
    },
  })
  const text = new TextDecoder()
  const read = async () => {
    // Node's streams can be iterated; the browser's types don't say so.
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      parser.feed(text.decode(part, { stream: true }))
    }
  }
  read().catch(() => {})
}

/** Makes todos one by one at a steady rate. */
async function make(db: Database, perSecond: number, { acknowledged }: Seen): Promise<number> {
  const began = performance.now()
  const total = perSecond * SECONDS
  const made: Promise<void>[] = []
  while (made.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond) + 1)
    while (made.length < due) {
      const one = enqueue(db, [{ queue: 'bench', title: 'A transition' }], MAKER)
      made.push(one.then(([done]) => void acknowledged.set(done?.todo.id as string, clock())))
    }
    await sleep(1)
  }
  await Promise.all(made)
  return total / ((performance.now() - began) / 1000)
}

function percentiles(values: number[]): string {
  const sorted = values.sort((a, b) => a - b)
  const at = (part: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

async function measure(databaseUrl: string): Promise<void> {
  const db = connect({ databaseUrl, max: 16 })
  const server = await web(databaseUrl)
  let seen: Seen = { acknowledged: new Map(), came: [] }
  const { token } = await createEndpoint(db, { name: 'bench', scopes: ['read'] })
  for (let client = 0; client < CLIENTS; client++) await watch(server.url, token, () => seen)
  await make(db, 50, seen)
  for (const rate of RATES) {
    seen = { acknowledged: new Map(), came: [] }
    const reached = await make(db, rate, seen)
    const expected = rate * SECONDS * CLIENTS
    for (let wait = 0; wait < 100 && seen.came.length < expected; wait++) await sleep(50)
    const sinceCommit = seen.came.map(({ id, at }) => Math.max(0, at - (seen.acknowledged.get(id) ?? at)))
    const sinceBegin = seen.came.map(({ at, made }) => at - made)
    process.stdout.write(
      `${rate}/s (reached ${reached.toFixed(0)}/s), ${CLIENTS} streams, ${seen.came.length} of ${expected} frames: ` +
        `commit to frame ${percentiles(sinceCommit)}; begin of the statement to frame ${percentiles(sinceBegin)}\n`,
    )
  }
  await server.stop()
  await db.close()
}

const home = mkdtempSync(join(tmpdir(), 'switchboard-bench-'))
// As root the database runs as another user, who must be able to pass through.
chmodSync(home, 0o755)
const dataDir = join(home, 'postgres')
const postgres = await startPostgres({ dataDir })
try {
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  await up(client)
  await client.end()
  await measure(postgres.url)
} finally {
  await postgres.stop()
  removeCluster(dataDir)
  rmSync(home, { recursive: true, force: true })
}
