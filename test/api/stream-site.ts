import type { Core } from '#lib/api/core'
import { serve } from '#lib/api/web-server'
import { connect } from '#lib/db/connect'
import { type LiveTiming, startLive } from '#lib/live/live'
import { PLAIN } from '../support/site'

/** The web process's own server, whose streams are kept as told; it may listen through a proxy. */
export async function streamSite(databaseUrl: string, timing: LiveTiming = {}, listenUrl = databaseUrl) {
  // Only the listening connection is opened by the address; the pool keeps its own.
  const database = Object.assign(connect({ databaseUrl }), { url: listenUrl })
  const live = await startLive(database, timing)
  const core: Core = { database, live, site: PLAIN }
  const server = await serve({ core, host: '127.0.0.1', port: 0, pages: null, metricsToken: null })
  return {
    url: server.url,
    live,
    stop: async () => {
      await live.stop()
      await server.stop(1000)
      await database.close()
    },
  }
}
