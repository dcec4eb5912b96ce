import { connect } from '#lib/db/connect'
import { startLive } from '#lib/live/live'
import { startBulks } from './bulk'
import type { Log } from './drain'
import { createEndedTally } from './ended'
import type { Environment } from './environment'
import { keepGauges } from './gauges'
import { serveHealth } from './health'
import { type Reaper, startReaper } from './reaper'
import { keepRetention } from './retention'

/** A worker that runs. */
export interface Worker {
  /** Finishes the batch under way and closes everything. */
  stop(): Promise<void>
}

// Follower, reaper, retention, bulk runs, gauges and health, each at most one at a time, and two in hand.
const CONNECTIONS = 8

/** Starts reaper, retention, bulk runs, gauges and health server. A database that is away doesn't keep it from starting; a taken port does. */
export async function startWorker({ databaseUrl, host, port, metricsToken }: Environment, log: Log): Promise<Worker> {
  const database = connect({ databaseUrl, max: CONNECTIONS, applicationName: 'switchboard-worker' })
  const live = await startLive(database)
  const reaper = startReaper(database, { live, log })
  const bulks = startBulks(database, { live, log })
  const stopping = new AbortController()
  const ended = createEndedTally(database)
  live.on('transition', ended.hear)
  const surroundings = { isHealthy: () => isTicking(reaper), log, signal: stopping.signal }
  const gauges = keepGauges(database, { ...surroundings, ended })
  const retention = keepRetention(database, { ...surroundings, live, forgot: ended.forgot })
  const closeAll = async () => {
    stopping.abort()
    await Promise.all([reaper.stop(), bulks.stop(), gauges, retention, live.stop()])
    await database.close()
  }
  const server = await serveHealth({ database, live, reaper, metricsToken }, { host, port }).catch(async (error) => {
    await closeAll()
    throw error
  })
  return {
    stop: async () => {
      server.close()
      await closeAll()
      server.closeAllConnections()
    },
  }
}

// Only a whole tick says that the tables are there, and are of this build's revision.
function isTicking(reaper: Reaper): boolean {
  const { lastTickMsAgo } = reaper.standing()
  return lastTickMsAgo !== null && lastTickMsAgo < 60_000
}
