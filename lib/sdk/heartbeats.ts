import { Refusal } from '#lib/model/errors'
import type { Client } from './client'
import type { Lease } from './lease'
import { isPassing } from './persist'

/** Keeps leases by heartbeats, at a third of each and whatever its handler is doing; those due together go in one call. */
export interface Heartbeats {
  keep(lease: Lease): void
  /** No more heartbeats for it. */
  leave(lease: Lease): void
  /** To be called whenever a kept lease's `beatAt` has changed. */
  reschedule(): void
}

const MOST_BATCHED = 1000
const LEAST_TIMEOUT_SECONDS = 1
const MOST_TIMEOUT_SECONDS = 10

/** Heartbeats of one worker. They are not repeated by the client but come again by themselves, each with a new beginning. */
export function createHeartbeats(client: Client): Heartbeats {
  const leases = new Set<Lease>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function reschedule(): void {
    clearTimeout(timer)
    const next = [...leases].reduce((soonest, lease) => Math.min(soonest, lease.beatAt), Number.POSITIVE_INFINITY)
    if (next < Number.POSITIVE_INFINITY) timer = setTimeout(beatDue, Math.max(0, next - performance.now()))
  }

  function beatDue(): void {
    const now = performance.now()
    // One that is due a little later comes along, so that leases claimed together stay together.
    const due = [...leases].filter((lease) => lease.beatAt - lease.spanMs / 6 <= now).slice(0, MOST_BATCHED)
    if (due.length > 0) void beat(client, due)
    reschedule()
  }

  return {
    keep: (lease) => {
      leases.add(lease)
      reschedule()
    },
    leave: (lease) => {
      leases.delete(lease)
      lease.close()
      reschedule()
    },
    reschedule,
  }
}

async function beat(client: Client, leases: readonly Lease[]): Promise<void> {
  const since = performance.now()
  const items = leases.map((lease) => lease.takeBeat())
  const refusals = await refusalsOf(client, items, timeoutSeconds(leases))
  leases.forEach((lease, index) => {
    const refusal = refusals[index]
    // Refused for its state, the epoch is still ours: somebody else asked a question in it.
    if (!refusal || refusal.code === 'invalid_state') lease.beaten(since)
    else if (isPassing(refusal)) lease.missed(items[index]?.progress)
    else lease.refused(refusal)
  })
}

type Beat = ReturnType<Lease['takeBeat']>

/** For each heartbeat in order, why it was refused; undefined where it was not. */
async function refusalsOf(client: Client, items: Beat[], timeout: number): Promise<(Refusal | undefined)[]> {
  const options = { retrySeconds: 0, timeoutSeconds: timeout }
  try {
    const [only, ...more] = items
    if (only && more.length === 0) {
      const { state } = await client.heartbeat(only, options)
      return [state === 'claimed' ? undefined : new Refusal('todo_terminal', { state })]
    }
    const { results } = await client.heartbeatMany({ items }, options)
    return results.map(({ ok, code }) => (ok ? undefined : new Refusal(code ?? 'lease_lost')))
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal('unavailable', { detail: String(error) })
    return items.map(() => refusal)
  }
}

function timeoutSeconds(leases: readonly Lease[]): number {
  const shortest = leases.reduce((least, lease) => Math.min(least, lease.spanMs), Number.POSITIVE_INFINITY)
  return Math.min(Math.max(shortest / 3000, LEAST_TIMEOUT_SECONDS), MOST_TIMEOUT_SECONDS)
}
