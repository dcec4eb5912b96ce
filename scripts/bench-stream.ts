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
// A fast rate is made of calls with several todos; so many calls at most wait for the database.
const CALLS_PER_SECOND = 100
const MOST_CALLS = 32
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
    // It ends when the channel does, so that a failure here leaves nothing behind.
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const { url } = JSON.parse(line)
    if (!url) continue
    child.stdout?.resume()
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

/** Reads a stream; what it tells is noted when `seen` is given. */
async function watch(url: string, token: string, seen?: () => Seen): Promise<void> {
  const response = await fetch(`${url}/api/v1/events`, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok || !response.body) throw new Error(`The stream was answered with ${response.status}`)
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event !== 'transition' || !seen) return
      const { todo, at } = JSON.parse(data)
      seen().came.push({ id: todo.id, at: clock(), made: Date.parse(at) })
    },
  })
  const text = new TextDecoder()
  const read = async () => {
    // Node's streams can be iterated; the browser's types don't say so.
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      if (seen) parser.feed(text.decode(part, { stream: true }))
    }
  }
  read().catch(() => {})
}

/** Makes todos at a steady rate, or as fast as the machine can; gives the rate reached. */
async function make(db: Database, perSecond: number, { acknowledged }: Seen): Promise<number> {
  const size = Math.max(1, Math.round(perSecond / CALLS_PER_SECOND))
  const calls = (perSecond / size) * SECONDS
  const underWay = new Set<Promise<void>>()
  const began = performance.now()
  for (let call = 0; call < calls; call++) {
    const early = began + (call * size * 1000) / perSecond - performance.now()
    if (early > 0) await sleep(early)
    if (underWay.size >= MOST_CALLS) await Promise.race(underWay)
    const one = enqueue(
      db,
      Array.from({ length: size }, () => ({ queue: 'bench', title: 'A transition' })),
      MAKER,
    ).then((made) => {
      const at = clock()
      for (const { todo } of made) acknowledged.set(todo.id, at)
      underWay.delete(one)
    })
    underWay.add(one)
  }
  await Promise.all(underWay)
  return (calls * size) / ((performance.now() - began) / 1000)
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
  await watch(server.url, token, () => seen)
  for (let client = 1; client < CLIENTS; client++) await watch(server.url, token)
  await make(db, 50, seen)
  await sleep(500)
  for (const rate of RATES) {
    seen = { acknowledged: new Map(), came: [] }
    const reached = await make(db, rate, seen)
    const expected = rate * SECONDS
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
