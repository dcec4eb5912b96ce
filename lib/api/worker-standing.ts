/** What the worker says of itself. */
export interface WorkerStanding {
  /** Why it does not sweep; null while it does. */
  reason: string | null
  /** When its last sweep ended, by the database's clock. */
  lastTickAt: string | null
}

/** Asks the worker beside this web process how it stands; rejects when it does not answer. */
export async function workerStanding(): Promise<WorkerStanding> {
  const answer = await fetch(`${workerUrl(process.env)}/readyz`)
  const { reason, last_tick_at } = (await answer.json()) as { reason: string | null; last_tick_at: string | null }
  return { reason, lastTickAt: last_tick_at }
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
