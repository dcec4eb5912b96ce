import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { type Instance, ROOT, readInstance } from '#scripts/instance.mjs'
import type { Plan } from '#scripts/launch.mjs'
import { isFree } from '#scripts/ports.mjs'
import { removeCluster } from '#scripts/postgres-cluster.mjs'
import { identify, isAlive } from '#scripts/processes.mjs'

const STAND_IN = fileURLToPath(new URL('stand-in.mjs', import.meta.url))
const PLAN: Plan = {
  mode: 'development',
  migrate: [STAND_IN, 'migrate'],
  web: [STAND_IN, 'serve'],
  worker: [STAND_IN, 'serve'],
}

// Generous: a machine that does other things too must not fail a promise that holds.
const PATIENCE_MS = 40_000
vi.setConfig({ testTimeout: 90_000 })

// One home for all: the database files are made once.
const home = mkdtempSync(join(tmpdir(), 'switchboard-launch-'))
chmodSync(home, 0o755)
let port = 0

beforeEach(async () => {
  vi.stubEnv('SWITCHBOARD_HOME', home)
  do port = randomInt(20_000, 32_000)
  while (!((await isFree(port)) && (await isFree(port + 1))))
})
afterAll(() => {
  vi.unstubAllEnvs()
  removeCluster(join(home, 'postgres'))
  rmSync(home, { recursive: true, force: true })
})

/** Runs the launcher in a process of its own. */
function launch(plan: Partial<Plan> = {}, env: Record<string, string | undefined> = {}) {
  const code = `
    const { launch } = await import('./scripts/launch.mjs')
    await launch(${JSON.stringify({ ...PLAN, ...plan })}, ['--port', '${port}'])`
  const { DATABASE_URL: _, ...inherited } = process.env
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    env: { ...inherited, ...env, SWITCHBOARD_HOME: home },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part) => {
      said += part
    })
  }
  const ended = new Promise<number | null>((gone) => child.once('close', gone))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return { child, ended, said: () => said }
}

/** The launcher once it says that it is ready. */
async function ready(start: ReturnType<typeof launch>) {
  await vi.waitFor(() => expect(start.said()).toContain('Ready'), { timeout: PATIENCE_MS })
  return readInstance() as Instance
}

const answer = async (url: string) => (await fetch(url)).text()

const pidOf = (name: string) => readInstance()?.processes[name] ?? 0

async function replaced(name: string, old: number) {
  await vi.waitFor(() => expect([0, old]).not.toContain(pidOf(name)), { timeout: PATIENCE_MS })
}

test('all of it comes up, gets up again after kill -9, and is gone within 5 s of SIGTERM', async () => {
  const start = launch()
  const { url, worker_url, processes } = await ready(start)
  const expected = { hasDatabase: true, host: '127.0.0.1', mode: 'development' }
  expect(JSON.parse(await answer(`${url}/env`))).toEqual(expected)
  expect(JSON.parse(await answer(`${worker_url}/env`))).toEqual(expected)
  await vi.waitFor(() => expect(start.said()).toMatch(/Ready[\s\S]*first admin here/))

  for (const pid of Object.values(processes)) process.kill(pid, 'SIGKILL')
  for (const [name, pid] of Object.entries(processes)) await replaced(name, pid)
  for (const name of ['web', 'worker', 'database']) expect(start.said()).toContain(`${name} was ended by SIGKILL`)
  await vi.waitFor(async () => expect(await answer(`${worker_url}/stuck`)).toBe('stuck'), { timeout: PATIENCE_MS })

  const left = Object.values(readInstance()?.processes ?? {}).map((pid) => identify(pid))
  expect(left.filter(isAlive)).toHaveLength(3)
  const began = performance.now()
  start.child.kill('SIGTERM')
  expect(await start.ended).toBe(0)
  expect(performance.now() - began).toBeLessThan(5000)
  expect(left.filter(isAlive)).toEqual([])
  expect(existsSync(join(home, 'instance.json'))).toBe(false)
})

test('after kill -9 of the supervisor its processes leave, and the next start finds the data', async () => {
  const killed = launch()
  const { processes, database_url } = await ready(killed)
  const services = [processes.web, processes.worker].map((pid) => identify(pid ?? 0))
  killed.child.kill('SIGKILL')
  await vi.waitFor(() => expect(services.filter(isAlive)).toEqual([]), { timeout: PATIENCE_MS })
  expect((await ready(launch())).database_url).toBe(database_url)
})

test('a second start says that the first is running', async () => {
  const first = launch()
  const { url } = await ready(first)
  const second = launch()
  expect(await second.ended).toBe(1)
  expect(second.said()).toContain(`Switchboard is already running from this folder at ${url}`)
})

test('a database newer than the code ends the start with what the migration runner says', async () => {
  const start = launch({ migrate: [STAND_IN, 'refuse'] })
  expect(await start.ended).toBe(1)
  expect(start.said()).toContain('20991231_future is unknown. The database is newer than this code.')
})

test('a process that ends before it is ready ends the start, with its reason and where its log is', async () => {
  const start = launch({ worker: [STAND_IN, 'broken'] })
  expect(await start.ended).toBe(1)
  expect(start.said()).toContain('a setting is missing')
  expect(start.said()).toContain(
    `The worker process did not become ready. Its log: ${join(home, 'logs', 'worker.log')}`,
  )
})

test('a database that cannot be reached ends the start with a sentence, not with a stack', async () => {
  const start = launch({}, { DATABASE_URL: 'postgresql://me:secret@127.0.0.1:1/mine' })
  expect(await start.ended).toBe(1)
  expect(start.said()).toContain('The database at 127.0.0.1:1/mine cannot be used: nothing listens there.')
  expect(start.said()).not.toMatch(/secret|\n\s+at /)
})

test('a stop in the middle of a start leaves nothing behind', async () => {
  const start = launch({ web: [STAND_IN, 'deaf'] })
  await vi.waitFor(() => expect(start.said()).toContain('Migrations'), { timeout: PATIENCE_MS })
  start.child.kill('SIGTERM')
  expect(await start.ended).toBe(143)
  expect(existsSync(join(home, 'supervisor.json'))).toBe(false)
})
