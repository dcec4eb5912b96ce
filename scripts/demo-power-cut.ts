import { setTimeout as sleep } from 'node:timers/promises'
import { isPassing } from '#lib/sdk/persist'
import type { Client } from '#lib/sdk/sdk'
import type { Card } from '#lib/wire/todo'
import type { Crewman } from './demo-crew'
import { heldBy, readStanding, type Standing } from './demo-watch'

/** A worker that was killed, and what it held just then. */
export interface PowerCut {
  victim: Crewman
  held: Card[]
}

/** What cutting the power needs. */
export interface Cutting {
  client: Client
  ids: ReadonlySet<string>
  crew: readonly Crewman[]
  signal: AbortSignal
}

const LOOK_MS = 50
const SETTLE_MS = 250
const LOOKS = 3
// Killed after a quarter of the work.
const PART = 4

/**
 * Kills one worker with SIGKILL, midway and while it certainly works on a todo: it is stopped in its tracks first, so that
 * what it holds when we look is what it holds when it dies. Null when the work ended before that.
 */
export async function cutPower(cutting: Cutting): Promise<PowerCut | null> {
  const { client, ids, crew, signal } = cutting
  while (!signal.aborted) {
    const standing = await look(client, ids)
    if (standing?.isDone) return null
    const victim = standing && isMidway(standing) ? crew.findLast((one) => works(standing, one)) : undefined
    const cut = victim && (await cutOff(cutting, victim))
    if (cut) return cut
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
  return null
}

async function cutOff({ client, ids }: Cutting, victim: Crewman): Promise<PowerCut | null> {
  victim.freeze()
  let held: Card[] = []
  // What it had sent by then is still carried out, and may take a busy server a moment.
  for (let looks = 0; looks < LOOKS; looks++) {
    await sleep(SETTLE_MS)
    const standing = await look(client, ids)
    if (!standing || !works(standing, victim)) {
      victim.thaw()
      return null
    }
    held = heldBy(standing, victim)
  }
  await victim.kill()
  return { victim, held }
}

const isMidway = ({ counts, total }: Standing): boolean => (counts.completed ?? 0) >= Math.floor(total / PART)

const works = (standing: Standing, crewman: Crewman): boolean =>
  crewman.isAlive && heldBy(standing, crewman).some(({ state }) => state === 'claimed')

async function look(client: Client, ids: ReadonlySet<string>): Promise<Standing | null> {
  try {
    return await readStanding(client, ids)
  } catch (error) {
    if (isPassing(error)) return null
    throw error
  }
}
