import { chmodSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '#scripts/postgres.mjs'
import { removeCluster } from '#scripts/postgres-cluster.mjs'
import { endLeftover } from '#scripts/postgres-leftover.mjs'
import { identify } from '#scripts/processes.mjs'
import { startInstalledPostgres } from './installed-postgres'

/** A PostgreSQL for tests: the address of a database from which others can be made, and how to end it. */
export interface TestServer {
  url: string
  stop(): Promise<void>
}

const PREFIX = 'switchboard-test-'

// Test data may be lost in a crash, so nothing waits for the disk.
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: 200,
  autovacuum_naptime: '1h',
}

/**
 * The server that TEST_DATABASE_URL names (left running afterwards), else one with a folder of its own: of the programs
 * in the folder TEST_POSTGRES, else the embedded one.
 */
export async function startTestServer(): Promise<TestServer> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  await removeLeftovers()
  const home = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  // As root the server runs as another user, who must be able to pass through.
  chmodSync(home, 0o755)
  const dataDir = join(home, 'postgres')
  const server = await start(dataDir)
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      removeCluster(dataDir)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

function start(dataDir: string): Promise<TestServer> {
  const bin = process.env.TEST_POSTGRES
  if (bin) return startInstalledPostgres({ bin, dataDir, settings: SETTINGS })
  return startPostgres({ dataDir, settings: SETTINGS })
}

/** Ends and deletes the servers of runs that were killed before they could do so themselves. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX))) {
    const runner = Number(name.slice(PREFIX.length).split('-')[0])
    if (identify(runner)) continue
    const home = join(tmpdir(), name)
    await removeServer(join(home, 'postgres'))
    rmSync(home, { recursive: true, force: true })
  }
}

async function removeServer(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return
  for (const name of readdirSync(dataDir).filter((name) => /^\d+$/.test(name))) {
    await endLeftover(realpathSync(join(dataDir, name)))
  }
  removeCluster(dataDir)
}
