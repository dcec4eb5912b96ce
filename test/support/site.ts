import { afterAll, beforeAll } from 'vitest'
import { type Core, closeCore, openCore } from '#lib/api/core'
import type { Pages } from '#lib/api/pages'
import type { Site } from '#lib/api/site'
import { serve } from '#lib/api/web-server'

/** The web process's own server, as people's browsers see it. */
export interface TestSite {
  readonly core: Core
  readonly url: string
}

/** An address that nobody but this machine knows, with no proxy before it. */
export const PLAIN: Site = { publicUrl: null, proxies: 0 }

/** Call at the top of a test file: serves the file's database, from its first hook on to its last. */
export function site(
  databaseUrl: string,
  { pages = null, ...own }: Partial<Site> & { pages?: Pages | null } = {},
): TestSite {
  const opened: { core?: Core; url: string; stop(): Promise<void> } = { url: '', stop: async () => {} }
  beforeAll(async () => {
    const started = await serveAt(databaseUrl, { ...PLAIN, ...own }, pages)
    Object.assign(opened, started)
  })
  afterAll(() => opened.stop())
  return {
    get core() {
      return opened.core as Core
    },
    get url() {
      return opened.url
    },
  }
}

/** Starts one that the test stops itself. */
export async function serveAt(databaseUrl: string, own: Site, pages: Pages | null = null) {
  const core = await openCore(databaseUrl, own)
  const server = await serve({ core, host: '127.0.0.1', port: 0, pages, metricsToken: null })
  const stop = async () => {
    await server.stop(1000)
    await closeCore(core)
  }
  return { core, url: server.url, stop }
}
