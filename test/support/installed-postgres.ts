import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isFree } from '#scripts/ports.mjs'
import { ownerSetting, readPostmaster, stopServer } from '#scripts/postgres-leftover.mjs'
import { accountFor, giveTo } from '#scripts/postgres-place.mjs'
import { identify } from '#scripts/processes.mjs'

/** Where a server's programs are, the folder for its data, and its settings. */
interface Options {
  bin: string
  dataDir: string
  settings: Record<string, string | number>
}

/** Starts a PostgreSQL that the system has installed, on new files and a free port. */
export async function startInstalledPostgres({ bin, dataDir, settings }: Options) {
  const account = accountFor(dataDir)
  const folder = join(dataDir, readVersion(bin))
  const password = randomBytes(16).toString('hex')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'password'), password, { mode: 0o600 })
  giveTo(dataDir, account)
  initialise({ bin, folder, account, passwordFile: join(dataDir, 'password') })

  const port = await freePort()
  const child = serve({ bin, folder, account, settings: { ...settings, port }, log: join(dataDir, 'log') })
  const identity = identify(child.pid ?? 0)
  const stop = async () => {
    if (identity) await stopServer(identity, 5000)
  }
  while (!readPostmaster(folder)?.isReady) {
    if (child.exitCode !== null) throw new Error(readFileSync(join(dataDir, 'log'), 'utf8'))
    await pause(20)
  }
  return { url: `postgresql://switchboard:${password}@127.0.0.1:${port}/postgres`, stop }
}

type Account = ReturnType<typeof accountFor>

function readVersion(bin: string): string {
  const { stdout } = spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' })
  const major = /\s(\d+)/.exec(stdout)?.[1]
  if (!major) throw new Error(`There is no PostgreSQL in ${bin}`)
  return major
}

function initialise(cluster: { bin: string; folder: string; account: Account; passwordFile: string }): void {
  const { bin, folder, account, passwordFile } = cluster
  const flags = ['--username=switchboard', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--no-sync']
  const made = spawnSync(join(bin, 'initdb'), [`--pgdata=${folder}`, ...flags, '--locale=C.UTF-8', '--encoding=UTF8'], {
    ...account,
    cwd: '/',
    encoding: 'utf8',
  })
  if (made.status !== 0) throw new Error(`initdb failed:\n${made.error?.message ?? made.stderr}`)
}

interface Serving {
  bin: string
  folder: string
  account: Account
  settings: Record<string, string | number>
  log: string
}

function serve({ bin, folder, account, settings, log }: Serving): ChildProcess {
  const owner = identify(process.pid)
  const all = { ...settings, listen_addresses: '127.0.0.1', unix_socket_directories: '', timezone: 'UTC' }
  const flags = Object.entries(all).map(([name, value]) => `${name}=${value}`)
  const out = openSync(log, 'a')
  const child = spawn(
    join(bin, 'postgres'),
    ['-D', folder, ...[...flags, ...(owner ? [ownerSetting(owner)] : [])].flatMap((flag) => ['-c', flag])],
    { ...account, cwd: '/', detached: true, stdio: ['ignore', out, out] },
  )
  closeSync(out)
  child.unref()
  return child
}

async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if (await isFree(port)) return port
  }
}
