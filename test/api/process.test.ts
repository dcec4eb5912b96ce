import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { createEndpoint } from '#lib/auth/endpoints'
import { database } from '../support/database'
import { PATIENT } from './door'

const { db, url: databaseUrl, sql } = database()

const children: ChildProcess[] = []

afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
})

/** A web process of its own, ended after the test whatever happens. */
function start(env: Record<string, string> = {}, stdio: 'ipc' | 'ignore' = 'ignore'): ChildProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/api/web-child.ts'], {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      SWITCHBOARD_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', stdio],
  })
  children.push(child)
  return child
}

/** Its address, once it serves. */
async function served(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const { url } = JSON.parse(line)
    if (url) return url
  }
  throw new Error('The web process ended without serving')
}

async function ended(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  let stderr = ''
  child.stdout?.resume()
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
  if (child.stderr && !child.stderr.readableEnded) await once(child.stderr, 'end')
  return { code, stderr }
}

const serves = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  )

let endpoints = 0

async function post(url: string, path: string, json: object): Promise<{ status: number; body: { todos: unknown[] } }> {
  endpoints += 1
  const { token } = await createEndpoint(db, { name: `caller-${endpoints}`, scopes: ['work', 'enqueue'] })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(json) })
  return { status: response.status, body: (await response.json()) as { todos: unknown[] } }
}

describe('the web process', () => {
  test('asked to stop answers its waiting claimers empty, takes no more calls, and is gone within 4 s', async () => {
    const child = start()
    const url = await served(child)
    const waiting = Array.from({ length: 5 }, () => post(url, '/api/v1/todos/claim', { wait_seconds: 30 }))
    const seen = () => sql`SELECT FROM endpoints WHERE last_seen_at IS NOT NULL`
    await expect.poll(async () => (await seen()).length, PATIENT).toBe(5)
    const began = performance.now()
    child.kill('SIGTERM')
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 5 }, () => ({ status: 200, body: { todos: [] } })))
    expect((await ended(child)).code).toBe(0)
    expect(performance.now() - began).toBeLessThan(4000)
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  })

  test('lets a call that is under way finish', async () => {
    const child = start()
    const url = await served(child)
    const lock = await db.pool.connect()
    await lock.query('BEGIN; LOCK TABLE todos IN EXCLUSIVE MODE')
    const made = post(url, '/api/v1/todos', { queue: 'slow', title: 'A' })
    await expect
      .poll(async () => (await sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`).length, PATIENT)
      .toBeGreaterThan(0)
    child.kill('SIGTERM')
    await expect.poll(() => serves(url), PATIENT).toBe(false)
    await lock.query('COMMIT')
    lock.release()
    expect((await made).status).toBe(201)
    expect((await ended(child)).code).toBe(0)
  })

  test('ends when whoever started it is gone', async () => {
    const child = start({}, 'ipc')
    await served(child)
    child.disconnect()
    expect((await ended(child)).code).toBe(0)
  })

  test('serves while the database is away, and says so', async () => {
    const child = start({ DATABASE_URL: 'postgresql://nobody:secret@127.0.0.1:1/none' })
    const url = await served(child)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    const ready = await fetch(`${url}/readyz`)
    expect(ready.status).toBe(503)
    expect(await ready.text()).not.toContain('secret')
    const authorization = `Bearer sbk_${'a'.repeat(43)}`
    const refused = await fetch(`${url}/api/v1/queues`, { headers: { authorization } })
    expect({ status: refused.status, retry: refused.headers.get('retry-after') }).toEqual({ status: 503, retry: '1' })
    expect(await refused.json()).toMatchObject({ code: 'unavailable' })
    child.kill('SIGTERM')
    expect((await ended(child)).code).toBe(0)
  })

  test('refuses to start where it cannot listen, and says why without a stack', async () => {
    const { code, stderr } = await ended(start({ SWITCHBOARD_HOST: '203.0.113.9' }))
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^203\.0\.113\.9 is no address of this machine/),
    })
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('refuses to start without what it needs, and says what', async () => {
    const { code, stderr } = await ended(
      start({ DATABASE_URL: '', SWITCHBOARD_PORT: '80x', SWITCHBOARD_LOG_LEVEL: 'verbose' }),
    )
    expect({
      code,
      lines: stderr
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    }).toEqual({ code: 1, lines: ['SWITCHBOARD_PORT', 'SWITCHBOARD_LOG_LEVEL', 'DATABASE_URL'] })
  })
})
