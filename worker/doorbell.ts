import type { Db } from '#lib/db/connect'
import { STATES } from '#lib/model/states'
import type { Transitioned } from '#lib/wire/frame'

/** Knows when waiting claimers should look although no todo landed in pending. */
export interface Doorbell {
  /** A todo moved: where it gave up a place in a queue that has only so many, there is room for another. */
  hear(fact: Transitioned): void
  /** Looks at the queues: one that has been opened, or has more places than at the last look, has something to give. */
  look(db: Db): Promise<void>
}

interface Gate {
  paused: boolean
  max_claimed: number | null
}

/** Makes a doorbell that calls `ring`. */
export function createDoorbell(ring: () => void): Doorbell {
  // Only queues that are paused or limited; all others are open.
  let gates = new Map<string, Gate>()
  return {
    hear: ({ from, todo }) => {
      if (!from || !todo || todo.owner !== null) return
      const { kind } = STATES[from]
      const gaveUp = kind === 'leased' || kind === 'interrupt'
      if (gaveUp && gates.get(todo.queue)?.max_claimed != null) ring()
    },
    look: async (db) => {
      const rows = await db.query<Gate & { name: string }>({
        name: 'gates',
        text: 'SELECT name, paused, max_claimed FROM queues WHERE paused OR max_claimed IS NOT NULL',
      })
      const now = new Map(rows.map(({ name, ...gate }) => [name, gate]))
      const before = gates
      gates = now
      if ([...before].some(([name, gate]) => isWider(gate, now.get(name)))) ring()
    },
  }
}

const isWider = (before: Gate, now: Gate = { paused: false, max_claimed: null }): boolean =>
  !now.paused && (before.paused || places(now) > places(before))

const places = ({ max_claimed }: Gate): number => max_claimed ?? Number.POSITIVE_INFINITY
