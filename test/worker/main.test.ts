import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build, stop as stopBuilding } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { database } from '../support/database'
import { freePort } from '../support/free-port'
import { given, now } from '../support/given'

const { db, url } = database()

// Bundled, as it is run; below the root, from where it finds the migrations it was built with.
const bundle = join('node_modules', '.cache', `worker-test-${process.pid}.mjs`)
beforeAll(async () => {
  await build({
    entryPoints: ['worker/main.ts'],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  })
  await stopBuilding()
})
afterAll(() => rmSync(bundle, { force: true }))

const running: ChildProcess[] = []
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

/** Starts the worker as a process of its own, as the launcher does. */
async function start(variables: Record<string, string | undefined> = {}) {
  const port = String(await freePort())
  const env = { ...process.env, DATABASE_URL: url, SWITCHBOARD_PORT: port, SWITCHBOARD_LOG_LEVEL: 'info', ...variables }
  const child = spawn(process.execPath, [bundle], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  running.push(child)
  const said = { out: '', err: '' }
  child.stdout?.on('data', (part) => {
    said.out += part
  })
  child.stderr?.on('data', (part) => {
    said.err += part
  })
  return { child, said, at: `http://127.0.0.1:${port}` }
}

const isReady = (at: string) =>
  fetch(`${at}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )

const ready = ({ at }: { at: string }) => expect.poll(() => isReady(at), { timeout: 15_000 }).toBe(true)

describe('the worker process', () => {
  test('takes work back, logs JSON lines and ends cleanly on SIGTERM', async () => {
    const { id } = await given(db, 'claimed', { ago: { lease_expires_at: 1 } })
    const { child, said, at } = await start()
    await ready({ at })
    expect((await now(db, id)).state).toBe('pending')

    const began = performance.now()
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([0, null])
    expect(performance.now() - began).toBeLessThan(5000)
    expect(said.err).toBe('')
    const lines = said.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toContainEqual(expect.objectContaining({ level: 30, msg: 'reaped expired leases', count: 1 }))
  })

  test('ends when the process that started it is gone', async () => {
    const { child, at } = await start()
    await ready({ at })
    child.disconnect()
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('says why it cannot start, and how its environment should be', async () => {
    const { child, said } = await start({ DATABASE_URL: undefined })
    expect(await once(child, 'close')).toEqual([1, null])
    expect(said.err).toContain('The worker cannot start. DATABASE_URL is missing')
    const mistyped = await start({ SWITCHBOARD_LOG_LEVEL: 'verbose' })
    expect(await once(mistyped.child, 'close')).toEqual([1, null])
    expect(mistyped.said.err).toMatch(
      /^The worker cannot start\. SWITCHBOARD_LOG_LEVEL must be one of trace, .*"verbose"$/m,
    )
  })

  test('never loads Prisma’s client', async () => {
    const { outputFiles } = await build({
      entryPoints: ['worker/main.ts'],
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      write: false,
      logLevel: 'silent',
    })
    await stopBuilding()
    expect(outputFiles[0]?.text).not.toMatch(/from ["']@prisma|generated\/client/)
  })
})
