import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterEach, expect, test, vi } from 'vitest'
import { findInvitation } from '#lib/auth/invitations'
import { database } from '../support/database'
import { somebody } from '../support/people'

// Each starts a process or two.
vi.setConfig({ testTimeout: 60_000 })

const { db, sql, url: databaseUrl } = database()

const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL')
})

interface Started {
  messages: unknown[]
  lines: Record<string, unknown>[]
}

/** A web process of its own; what it says to whoever started it, and to its log. */
function start(stdio: 'ipc' | 'ignore', env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/api/web-child.ts'], {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      SWITCHBOARD_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit', stdio],
  })
  children.push(child)
  const started: Started = { messages: [], lines: [] }
  child.on('message', (message) => started.messages.push(message))
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) =>
    started.lines.push(JSON.parse(line)),
  )
  return started
}

const PATIENCE = { timeout: 25_000 }
const said = ({ lines }: Started, text: string) => lines.find(({ msg }) => String(msg).includes(text))
const tokenIn = (url: unknown) => String(url).split('/welcome/')[1] ?? ''

test('while there is no admin, a start tells whoever started it the one link that works, and no log', async () => {
  const first = start('ipc')
  await expect
    .poll(() => first.messages, PATIENCE)
    .toEqual([{ type: 'first_admin', url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/welcome\/[\w-]{43}$/) }])
  const second = start('ipc', { SWITCHBOARD_PUBLIC_URL: 'https://board.example', SWITCHBOARD_HOST: '0.0.0.0' })
  await expect
    .poll(() => second.messages, PATIENCE)
    .toEqual([{ type: 'first_admin', url: expect.stringMatching(/^https:\/\/board\.example\/welcome\/[\w-]{43}$/) }])
  const [one, two] = [first, second].map(({ messages }) => tokenIn((messages[0] as { url: string }).url))
  expect(await findInvitation(db, one ?? '')).toBeNull()
  expect(await findInvitation(db, two ?? '')).toMatchObject({ role: 'admin' })
  expect(JSON.stringify([first.lines, second.lines])).not.toContain('/welcome/')
})

test('started by nobody, it is in the log; where anybody can reach it, by an address of this machine', async () => {
  const started = start('ignore', { SWITCHBOARD_HOST: '0.0.0.0' })
  await expect
    .poll(() => said(started, 'first admin'), PATIENCE)
    .toMatchObject({ level: 30, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:/) })
  expect(await findInvitation(db, tokenIn(said(started, 'first admin')?.url))).not.toBeNull()
})

test('while there is one, nothing is said and no invitation made', async () => {
  await somebody(db, 'admin')
  await sql`DELETE FROM invitations`
  const started = start('ipc')
  await expect.poll(() => said(started, 'notifications arrive'), PATIENCE).toBeDefined()
  await expect.poll(() => said(started, 'the web process serves'), PATIENCE).toBeDefined()
  expect(started.messages).toEqual([])
  expect(await sql`SELECT 1 FROM invitations`).toEqual([])
})
