import { EventEmitter } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import next from 'next'
import type { PersonCaller } from '#lib/wire/caller'
import { makeNonce, PAGE_HEADERS, pagePolicy } from './page-headers'
import { tellVisitor } from './page-visit'

/** The pages, as Next renders them. */
export interface Pages {
  /** Shows a page to a visitor who has been let in: this person, or anybody where the page is for all. */
  show(req: IncomingMessage, res: ServerResponse, person: PersonCaller | null): Promise<void>
  /** Takes over a connection that asks for it; only in development, for Next's own tools. */
  upgrade?: (req: IncomingMessage, socket: Duplex, head: Buffer) => void
  close(): Promise<void>
}

/** Where Next finds the pages and how it is to run. */
export interface PagesOptions {
  /** The folder that holds `app` and, outside development, `.next`. */
  dir: string
  dev: boolean
  host: string
  port: number
}

/** Prepares the pages; rejects when they have not been built. */
export async function preparePages({ dir, dev, host, port }: PagesOptions): Promise<Pages> {
  // Next tells its maker about every start in development, unless told not to.
  process.env.NEXT_TELEMETRY_DISABLED ??= '1'
  // Next would listen for upgrades on our server by itself, past the gate; so it gets something else to listen on.
  const upgrades = new EventEmitter()
  const app = next({ dir, dev, hostname: host, port, httpServer: upgrades as Server, quiet: !dev })
  await app.prepare()
  const handle = app.getRequestHandler()
  return {
    show: async (req, res, person) => {
      const policy = pagePolicy(makeNonce(), { dev })
      // Next and the layout read the nonce out of the request's own policy header.
      req.headers['content-security-policy'] = policy
      tellVisitor(req.headers, person)
      for (const [name, value] of Object.entries({ ...PAGE_HEADERS, 'content-security-policy': policy })) {
        res.setHeader(name, value)
      }
      await handle(req, res)
    },
    ...(dev ? { upgrade: (req, socket, head) => void upgrades.emit('upgrade', req, socket, head) } : {}),
    close: () => app.close(),
  }
}
