import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startLive } from '#lib/live/live'
import { ROOT } from '#scripts/instance.mjs'
import { startReaper } from '#worker/reaper'
import { door } from '../api/door'

const api = door()
const home = mkdtempSync(join(tmpdir(), 'switchboard-demo-'))
let stopReaper = async () => {}

beforeAll(async () => {
  const live = await startLive(api.db)
  const reaper = startReaper(api.db, { live, log: pino({ level: 'silent' }) })
  stopReaper = async () => {
    await reaper.stop()
    await live.stop()
  }
})

afterAll(async () => {
  await stopReaper()
  rmSync(home, { recursive: true })
})

/** Runs the demo to its end. */
function demo(...flags: string[]): Promise<{ code: number | null; said: string }> {
  const env = {
    ...process.env,
    SWITCHBOARD_URL: api.url,
    DATABASE_URL: api.databaseUrl,
    SWITCHBOARD_HOME: home,
  }
  const child = spawn(process.execPath, ['scripts/demo.mjs', ...flags], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const hear = (part: Buffer) => {
    said += part
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })))
}

test('the demo reviews real packages, loses a worker on the way, and proves that nothing was lost with it', async () => {
  const { code, said } = await demo('--auto', '--limit', '12', '--workers', '2', '--pace', '300')
  expect(said).toContain('was killed with SIGKILL while it held')
  expect(said).toContain('is back in the queue: its lease expired')
  expect(said).toContain('12 packages, each completed exactly once')
  expect(code).toBe(0)
  const report = JSON.parse(readFileSync(join(home, 'demo-report.json'), 'utf8'))
  expect(report).toMatchObject({ packages: 12, discrepancies: [] })
  // Parked until it was approved, and so continued by another attempt.
  expect(said).toMatch(/Ship @axe-core\/playwright \S+ under MPL-2\.0\? accepted/)
  expect(report.approvals).toMatchObject([
    {
      name: '@axe-core/playwright',
      shipping: { allowed: true, risk: 'low', decided_by: expect.stringMatching(/^client:demo-responder/) },
    },
  ])
  expect(report).toMatchObject({ questions: { parked: 0, held: 0, approvals: 1 }, continuations: 1 })
  expect(report.attempts).toBe(12 + report.continuations + report.lease_expired.length)
  expect(report.killed.held.length).toBeGreaterThan(0)
  expect(report.lease_expired.map(({ title }: { title: string }) => title)).toEqual(
    expect.arrayContaining(report.killed.held),
  )
}, 90_000)

test('--clean leaves nothing live and no endpoint behind', async () => {
  const { code, said } = await demo('--clean')
  expect(code).toBe(0)
  expect(said).toContain('Revoked: demo-client')
  const endpoints = await api.sql`SELECT name FROM endpoints WHERE name LIKE 'demo-%' AND revoked_at IS NULL`
  expect(endpoints).toEqual([])
}, 30_000)
