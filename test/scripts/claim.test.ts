import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { claimHome } from '#scripts/claim.mjs'
import { findDatabaseUrl, ROOT, readInstance } from '#scripts/instance.mjs'
import { type Identity, identify, isAlive } from '#scripts/processes.mjs'

const ADDRESS = {
  url: 'http://127.0.0.1:1',
  worker_url: 'http://127.0.0.1:2',
  database_url: 'postgresql://127.0.0.1/found',
  started_at: '2026-01-01T00:00:00.000Z',
}
const DEAD = { pid: 2 ** 22 + 1, mark: 'gone' }

let home = ''
const file = () => join(home, 'supervisor.json')
const instanceFile = () => join(home, 'instance.json')

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'switchboard-claim-'))
  vi.stubEnv('SWITCHBOARD_HOME', home)
  vi.stubEnv('DATABASE_URL', '')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true })
})

/** Starts a process that lives until the test is over, and waits for the first thing it says. */
async function firstWord(args: string[]) {
  const child = spawn(process.execPath, args, { cwd: ROOT, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const word = await new Promise<Buffer>((heard) => child.stdout.once('data', heard))
  return { word: String(word).trim(), pid: child.pid ?? 0 }
}

async function stray(): Promise<Identity> {
  const { pid } = await firstWord(['-e', 'setInterval(() => {}, 1000); console.log("up")'])
  return identify(pid) as Identity
}

test('an address is published for scripts and taken back at the end', async () => {
  const claim = await claimHome()
  expect(readInstance()).toBeNull()
  claim.record('web', identify(process.pid))
  claim.publish(ADDRESS)
  expect(readInstance()).toMatchObject({ ...ADDRESS, pid: process.pid, processes: { web: process.pid } })
  expect(findDatabaseUrl()).toBe(ADDRESS.database_url)
  claim.release()
  expect([existsSync(file()), existsSync(instanceFile()), findDatabaseUrl()]).toEqual([false, false, null])
})

test('DATABASE_URL wins over the running instance', async () => {
  const claim = await claimHome()
  claim.publish(ADDRESS)
  vi.stubEnv('DATABASE_URL', 'postgresql://127.0.0.1/given')
  expect(findDatabaseUrl()).toBe('postgresql://127.0.0.1/given')
  claim.release()
})

test('a second start is refused while the first lives, and told where it is', async () => {
  const claim = await claimHome()
  claim.publish(ADDRESS)
  await expect(claimHome()).rejects.toThrow(/already running from this folder at http:\/\/127\.0\.0\.1:1/)
  claim.release()
})

test('a folder that is not there yet is made, with those above it', async () => {
  vi.stubEnv('SWITCHBOARD_HOME', join(home, 'a', 'b'))
  const claim = await claimHome()
  expect(existsSync(join(home, 'a', 'b', 'supervisor.json'))).toBe(true)
  claim.release()
})

test.runIf(existsSync('/proc/self'))(
  'where no folder can be made, the start ends at once and says what to do',
  async () => {
    vi.stubEnv('SWITCHBOARD_HOME', '/proc/switchboard/home')
    await expect(claimHome()).rejects.toThrow(
      /^Cannot keep data and logs in \/proc\/switchboard\/home: no folder can be made there\.\nSet SWITCHBOARD_HOME to /,
    )
  },
)

test('a file in the way is named, wherever it stands', async () => {
  writeFileSync(join(home, 'file'), '')
  for (const path of ['file', 'file/home', 'file/a/b']) {
    vi.stubEnv('SWITCHBOARD_HOME', join(home, path))
    await expect(claimHome()).rejects.toThrow(`Cannot keep data and logs in ${join(home, path)}: a file is in its way.`)
  }
})

test.skipIf(process.getuid?.() === 0)('a folder of somebody else is none to keep data in', async () => {
  chmodSync(home, 0o500)
  onTestFinished(() => chmodSync(home, 0o700))
  await expect(claimHome()).rejects.toThrow('this user may not write there')
})

test('of many starts at once after a crash one wins', async () => {
  writeFileSync(file(), JSON.stringify({ ...DEAD, children: {} }))
  const code = `
    const { claimHome } = await import('./scripts/claim.mjs')
    await claimHome().then(() => console.log('won'), () => console.log('refused'))
    setInterval(() => {}, 1000)`
  const said = await Promise.all(Array.from({ length: 4 }, () => firstWord(['--input-type=module', '-e', code])))
  expect(said.map(({ word }) => word).sort()).toEqual(['refused', 'refused', 'refused', 'won'])
})

test('an instance file that a killed start left behind counts for nothing', async () => {
  writeFileSync(instanceFile(), JSON.stringify({ ...ADDRESS, ...DEAD }))
  expect(readInstance()).toBeNull()
  const claim = await claimHome()
  expect(existsSync(instanceFile())).toBe(false)
  claim.release()
})

test('what a killed start left running is ended', async () => {
  const web = await stray()
  writeFileSync(file(), JSON.stringify({ ...DEAD, children: { web } }))
  const claim = await claimHome()
  expect(isAlive(web)).toBe(false)
  expect(JSON.parse(readFileSync(file(), 'utf8'))).toMatchObject({ pid: process.pid, children: {} })
  claim.release()
})

test('a stranger that has the pid of such a process by now is left alone', async () => {
  const stranger = await stray()
  const children = { web: { ...stranger, mark: 'another' } }
  writeFileSync(file(), JSON.stringify({ ...DEAD, children }))
  const claim = await claimHome()
  expect(isAlive(stranger)).toBe(true)
  claim.release()
})

test('a damaged claim does not stand in the way', async () => {
  writeFileSync(file(), '')
  const claim = await claimHome()
  claim.release()
  expect(existsSync(file())).toBe(false)
})
