import { afterAll, beforeAll } from 'vitest'
import { closeCore, openCore } from '#lib/api/core'
import type { Pages } from '#lib/api/pages'
import type { Site } from '#lib/api/site'
import { serve } from '#lib/api/web-server'
import { nextServer } from '../api/next-server'

/** A web process as people's browsers see it. */
export interface TestSite {
  readonly url: string
}

/** An address that nobody but this machine knows, with no proxy before it. */
export const PLAIN: Site = { publicUrl: null, proxies: 0 }

/**
 * Call at the top of a test file: serves the file's database, from its first hook on to its last. Our own server answers;
 * with SWITCHBOARD_TEST_DOOR=next and no pages of the test's own, the built app under plain `next start`.
 */
export function site(databaseUrl: string, { pages = null }: { pages?: Pages | null } = {}): TestSite {
  const opened = { url: '', stop: async () => {} }
  beforeAll(async () => {
    const isNext = process.env.SWITCHBOARD_TEST_DOOR === 'next' && pages === null
    Object.assign(opened, isNext ? await nextServer(databaseUrl) : await serveAt(databaseUrl, PLAIN, pages))
  }, 60_000)
  afterAll(() => opened.stop())
  return {
    get url() {
      return opened.url
    },
  }
}

/** Starts our own server on a core of its own, which the test stops itself. */
export async function serveAt(databaseUrl: string, own: Site, pages: Pages | null = null) {
  const core = await openCore(databaseUrl, own)
  const server = await serve({ core, host: '127.0.0.1', port: 0, pages, metricsToken: null })
  const stop = async () => {
    await server.stop(1000)
    await closeCore(core)
  }
  return { core, url: server.url, stop }
}
