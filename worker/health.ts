import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isLoopback } from '#lib/api/loopback'
import type { Database } from '#lib/db/connect'
import { type Revision, revision } from '#lib/db/revision'
import { within } from '#lib/db/within'
import type { Live } from '#lib/live/live'
import { mayScrape } from '#lib/ops/may-scrape'
import { exposition, expositionType } from '#lib/ops/metrics'
import type { Reaper } from './reaper'

/** What the worker's own addresses speak of. */
export interface Checked {
  database: Database
  live: Live
  reaper: Reaper
  metricsToken: string | null
}

/** Whether the worker does its work, for machines: and if not, what is missing. */
interface Readiness {
  status: 'ready' | 'not_ready'
  /** Why it is not ready; null when it is. */
  reason: string | null
  /** Whether the database answers. */
  database: boolean
  /** The newest migration this build knows and the newest the database has; null when it cannot be asked. */
  migrations: Revision | null
  /** `listening`, or `polling` while notifications don't arrive. */
  listener: 'listening' | 'polling'
  last_tick_at: string | null
}

interface Answer {
  status: number
  type?: string
  body: string
}

const ANSWER_MS = 3000

// Three missed ticks: something holds the reaper up.
const STUCK_MS = 90_000

/** Serves /healthz, /readyz and /metrics; the promise rejects when the address can't be had. */
export function serveHealth(checked: Checked, address: { host: string; port: number }): Promise<Server> {
  const server = createServer((request, response) => {
    void respond(checked, request, response)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(address, () => resolve(server))
  })
}

async function respond(checked: Checked, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const {
    status,
    type = 'application/json',
    body,
  } = await answer(checked, request).catch(() => json(500, { status: 'failed' }))
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

const json = (status: number, body: object): Answer => ({ status, body: `${JSON.stringify(body)}\n` })

async function answer(checked: Checked, request: IncomingMessage): Promise<Answer> {
  const path = request.url?.split('?')[0]
  if (path !== '/healthz' && path !== '/readyz' && path !== '/metrics') return json(404, { status: 'not_found' })
  if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, { status: 'method_not_allowed' })
  if (path === '/healthz') return json(200, { status: 'ok' })
  if (path === '/metrics') return metrics(checked, request)
  const readiness = await ready(checked)
  return json(readiness.status === 'ready' ? 200 : 503, readiness)
}

async function metrics({ metricsToken }: Checked, request: IncomingMessage): Promise<Answer> {
  const scraper = { authorization: request.headers.authorization, isLoopback: isLoopback(request) }
  if (mayScrape(scraper, metricsToken)) return { status: 200, type: expositionType, body: await exposition() }
  if (metricsToken !== null) return json(401, { status: 'unauthenticated' })
  return json(403, {
    status: 'forbidden',
    detail: 'Without SWITCHBOARD_METRICS_TOKEN metrics are told only on this machine',
  })
}

async function ready({ database, live, reaper }: Checked): Promise<Readiness> {
  const migrations = await within(ANSWER_MS, revision(database)).catch(() => null)
  const { lastTickAt, lastTickMsAgo, refused } = reaper.standing()
  const reason = whyNotReady({ migrations, lastTickMsAgo, isMigrating: refused === 'migrating' })
  return {
    status: reason === null ? 'ready' : 'not_ready',
    reason,
    database: migrations !== null,
    migrations,
    listener: live.isListening ? 'listening' : 'polling',
    last_tick_at: lastTickAt,
  }
}

interface Findings {
  migrations: Revision | null
  lastTickMsAgo: number | null
  isMigrating: boolean
}

function whyNotReady({ migrations, lastTickMsAgo, isMigrating }: Findings): string | null {
  if (!migrations) return 'The database does not answer'
  if (!migrations.matches)
    return `This build knows ${migrations.build}, the database is at ${migrations.database ?? 'no migration'}`
  if (isMigrating) return 'A migration is under way'
  if (lastTickMsAgo === null) return 'The first sweep is not over yet'
  return lastTickMsAgo > STUCK_MS ? `The last sweep ended ${Math.round(lastTickMsAgo / 1000)} s ago` : null
}
