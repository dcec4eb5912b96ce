import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, expect, test, vi } from 'vitest'
import { ROOT } from '#scripts/instance.mjs'
import { startPostgres } from '#scripts/postgres.mjs'
import { identify, isAlive } from '#scripts/processes.mjs'

vi.setConfig({ testTimeout: 60_000 })

const home = mkdtempSync(join(tmpdir(), 'switchboard-postgres-'))
chmodSync(home, 0o755)
const dataDir = join(home, 'postgres')
const settings = { fsync: 'off' }
afterAll(() => rmSync(home, { recursive: true, force: true }))

async function query(url: string, sql: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Starts the server in a process of its own, which is then killed. */
async function startAndKill() {
  const code = `
    const { startPostgres } = await import('./scripts/postgres.mjs')
    const { pid, port } = await startPostgres({ dataDir: ${JSON.stringify(dataDir)}, settings: { fsync: 'off' } })
    console.log(JSON.stringify({ pid, port }))
    setInterval(() => {}, 1000)`
  const starter = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: ROOT })
  const said = await new Promise<Buffer>((heard) => starter.stdout.once('data', heard))
  const ended = new Promise((gone) => starter.once('exit', gone))
  starter.kill('SIGKILL')
  await ended
  return JSON.parse(String(said)) as { pid: number; port: number }
}

test('the data, the port and the password stay over a restart', async () => {
  const first = await startPostgres({ dataDir, settings })
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS one')
  await first.stop()
  const second = await startPostgres({ dataDir, settings })
  expect(second.url).toBe(first.url)
  expect(await query(second.url, 'SELECT one FROM kept')).toEqual([{ one: 1 }])
  await second.stop()
  await second.exited
})

test('times are in UTC and letters beyond ASCII have cases', async () => {
  const { url, stop } = await startPostgres({ dataDir, settings })
  const [row] = await query(url, "SELECT current_setting('TimeZone') AS zone, 'ÄÖÜ' ILIKE 'äöü' AS is_alike")
  expect(row).toEqual({ zone: 'UTC', is_alike: true })
  await stop()
})

test('files in use are refused rather than opened twice', async () => {
  const { pid, stop } = await startPostgres({ dataDir, settings })
  await expect(startPostgres({ dataDir, settings })).rejects.toThrow(`in use by the process ${process.pid}`)
  expect(identify(pid)).not.toBeNull()
  await stop()
})

test('a server that a killed start left behind is ended by the next', async () => {
  const left = await startAndKill()
  const identity = identify(left.pid)
  const { pid, port, stop } = await startPostgres({ dataDir, settings })
  expect([isAlive(identity), pid === left.pid, port]).toEqual([false, false, left.port])
  await stop()
})

test('a server that is killed says so and can be started again on its port', async () => {
  const killed = await startPostgres({ dataDir, settings })
  process.kill(killed.pid, 'SIGKILL')
  expect(await killed.exited).toEqual({ code: null, signal: 'SIGKILL' })
  const again = await startPostgres({ dataDir, settings, port: killed.port })
  expect(again.url).toBe(killed.url)
  await again.stop()
})

test('a lock file with the pid of a stranger is no obstacle, and the stranger lives', async () => {
  const lock = join(realpathSync(join(dataDir, '18')), 'postmaster.pid')
  const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  writeFileSync(lock, `${stranger.pid}\n${dataDir}\n1\n1\n\n127.0.0.1\n`)
  const { stop } = await startPostgres({ dataDir, settings })
  expect(stranger.exitCode).toBeNull()
  expect(readFileSync(lock, 'utf8')).not.toMatch(`${stranger.pid}\n`)
  stranger.kill('SIGKILL')
  await stop()
})

test('a port that is asked for and taken is refused', async () => {
  const { port, stop } = await startPostgres({ dataDir, settings })
  const other = join(home, 'other')
  await expect(startPostgres({ dataDir: other, settings, port })).rejects.toThrow(/port of the database is taken/)
  await stop({ remove: true })
})
