import type { Db } from '#lib/db/connect'
import type { MetricName } from '#lib/model/metrics'

/** Whether the worker says it is ready, and how long ago its last sweep ended by the database's clock. */
export interface Tick {
  isReady: boolean
  /** Null before the first. */
  secondsAgo: number | null
}

const LAST_TICK: MetricName = 'switchboard_reaper_last_tick_timestamp_seconds'

/** Asks the worker beside this web process; rejects when it does not answer. */
export async function workerTick(db: Db): Promise<Tick> {
  const url = workerUrl(process.env)
  const [ready, metrics, [clock]] = await Promise.all([
    fetch(`${url}/readyz`),
    fetch(`${url}/metrics`, { headers: authorization(process.env) }),
    db.query<{ now: number }>({ name: 'clock', text: 'SELECT extract(epoch FROM now())::float8 AS now' }),
  ])
  const ended = lastTick(await metrics.text())
  return { isReady: ready.ok, secondsAgo: ended && clock ? Math.max(0, Math.round(clock.now - ended)) : null }
}

function lastTick(exposition: string): number | null {
  const line = exposition.split('\n').find((one) => one.startsWith(`${LAST_TICK} `))
  return line ? Number(line.slice(LAST_TICK.length)) || null : null
}

/** Where the worker answers: SWITCHBOARD_WORKER_URL, else the port after the web process's own. */
function workerUrl({ SWITCHBOARD_WORKER_URL, SWITCHBOARD_HOST, SWITCHBOARD_PORT }: NodeJS.ProcessEnv): string {
  if (SWITCHBOARD_WORKER_URL) return SWITCHBOARD_WORKER_URL.replace(/\/+$/, '')
  return `http://${reachable(SWITCHBOARD_HOST || '127.0.0.1')}:${Number(SWITCHBOARD_PORT || 4300) + 1}`
}

// A wildcard is reached through loopback.
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

const authorization = ({ SWITCHBOARD_METRICS_TOKEN: token }: NodeJS.ProcessEnv): Record<string, string> =>
  token ? { authorization: `Bearer ${token}` } : {}
