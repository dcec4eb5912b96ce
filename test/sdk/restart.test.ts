import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client as Session } from 'pg'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createEndpoint } from '#lib/auth/endpoints'
import { connect as connectDatabase } from '#lib/db/connect'
import { breaches } from '#lib/queue/invariants'
import { connect } from '#lib/sdk/client'
import { startPostgres } from '#scripts/postgres.mjs'
import { removeCluster } from '#scripts/postgres-cluster.mjs'
import { up } from '../../prisma/runner'
import { PATIENT } from '../api/door'
import { freePort } from '../support/free-port'
import { processes } from './processes'

vi.setConfig({ testTimeout: 90_000 })

// A server of its own, which can be ended without harm to other tests.
const home = mkdtempSync(join(tmpdir(), 'switchboard-restart-'))
chmodSync(home, 0o755)
const dataDir = join(home, 'postgres')
const startAgent = processes()
const running = new Set<ChildProcess>()
const databases = new Set<Awaited<ReturnType<typeof startPostgres>>>()

afterEach(async () => {
  for (const child of running) await end(child, 'SIGKILL')
  for (const database of databases) await database.stop()
  databases.clear()
})
afterAll(() => {
  removeCluster(dataDir)
  rmSync(home, { recursive: true, force: true })
})

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  running.delete(child)
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

function start(program: string, url: string, port: number): ChildProcess {
  const env = { ...process.env, NODE_ENV: 'production' as const, DATABASE_URL: url, SWITCHBOARD_PORT: String(port) }
  const child = spawn(process.execPath, ['--import', 'tsx', program], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  running.add(child)
  return child
}

async function servedAt(web: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: web.stdout as NodeJS.ReadableStream })) {
    const { url } = JSON.parse(line)
    if (url) return url
  }
  throw new Error('The web process ended without serving')
}

/** Everything there is: the database, the web process, the reaper; `end` ends all of them, the database too. */
async function everything() {
  const database = await startPostgres({ dataDir, settings: { fsync: 'off' } })
  databases.add(database)
  const session = new Session({ connectionString: database.url })
  await session.connect()
  await up(session)
  await session.end()
  const web = start('test/api/web-child.ts', database.url, 0)
  const reaper = start('worker/main.ts', database.url, await freePort())
  reaper.stdout?.resume()
  const url = await servedAt(web)
  web.stdout?.resume()
  const endAll = async (signal: NodeJS.Signals) => {
    await Promise.all([web, reaper].map((child) => end(child, signal)))
    databases.delete(database)
    if (signal === 'SIGTERM') return database.stop()
    process.kill(database.pid, 'SIGKILL')
    await database.exited
  }
  return { url, databaseUrl: database.url, end: endAll }
}

async function tokens(databaseUrl: string, name: string) {
  const db = connectDatabase({ databaseUrl, max: 1 })
  const make = async (role: string, scopes: ('work' | 'enqueue' | 'read' | 'answer')[]) =>
    (await createEndpoint(db, { name: `${role}-${name}`, scopes })).token
  const made = { agent: await make('agent', ['work']), ours: await make('ours', ['enqueue', 'read', 'answer']) }
  await db.close()
  return made
}

test.each([
  ['SIGKILL', 'trip'],
  ['SIGTERM', 'trip'],
  ['SIGTERM', 'hands'],
] as const)(
  'ended by %s between question and answer, agent, web, reaper and database lose nothing (%s)',
  async (signal, queue) => {
    const before = await everything()
    const { agent, ours } = await tokens(before.databaseUrl, `${signal}-${queue}`.toLowerCase())
    const asking = connect({ url: before.url, token: ours })
    const { todo } = await asking.enqueue({ queue, title: 'Books a trip', payload: { asks: true } })
    const first = startAgent(queue, { url: before.url, token: agent })
    await first.hears(queue === 'trip' ? 'enters with null' : 'asks')
    const { todo: asked } = await asking.getTodo({ id: todo.id, wait_seconds: 20 })
    expect(asked).toMatchObject({ state: 'input-required', attempts: 1 })
    await first.end(signal)
    await before.end(signal)

    const after = await everything()
    const answering = connect({ url: after.url, token: ours })
    const kept = await answering.getTodo({ id: todo.id })
    expect(kept.todo).toMatchObject({
      state: 'input-required',
      owner: null,
      open_interrupt_id: asked.open_interrupt_id,
    })
    expect(kept.interrupts).toMatchObject([{ status: 'open', mode: 'park' }])
    await answering.answerInterrupt({ id: asked.open_interrupt_id ?? '', content: { answer: 'Lisbon' } })
    const second = startAgent(queue, { url: after.url, token: agent })
    if (queue === 'trip') await second.hears('enters with {"page":7}')
    await expect.poll(async () => (await answering.getTodo({ id: todo.id })).todo.state, PATIENT).toBe('completed')
    const { todo: done, interrupts } = await answering.getTodo({ id: todo.id })
    expect(done).toMatchObject({
      attempts: 2,
      lease_epoch: 2,
      lease_expirations: 0,
      failures: 0,
      result: { answer: 'Lisbon' },
    })
    expect(interrupts).toHaveLength(1)
    await second.end('SIGTERM')
    const db = connectDatabase({ databaseUrl: after.databaseUrl, max: 1 })
    expect(await breaches(db)).toEqual([])
    await db.close()
    await after.end(signal)
  },
)
