import type { State } from '#lib/model/states'
import type { Client } from '#lib/sdk/sdk'
import type { Card } from '#lib/wire/todo'
import { QUEUE } from './demo-endpoints'

/** How the demo's todos stand at one moment. */
export interface Standing {
  cards: ReadonlyMap<string, Card>
  counts: Partial<Record<State, number>>
  total: number
  isDone: boolean
}

const PAGE = 200
const ENDED: readonly State[] = ['completed', 'failed', 'canceled', 'rejected']

/** Reads how these todos stand; newest first, so that it need not read what older runs have left. */
export async function readStanding(client: Client, ids: ReadonlySet<string>): Promise<Standing> {
  const cards = new Map<string, Card>()
  for (let cursor: string | undefined; ; ) {
    const page = await client.listTodos({ queue: QUEUE, limit: PAGE, ...(cursor && { cursor }) }, { retrySeconds: 0 })
    for (const card of page.todos) if (ids.has(card.id)) cards.set(card.id, card)
    if (cards.size === ids.size || page.next_cursor === null) return standingOf(cards, ids.size)
    cursor = page.next_cursor
  }
}

function standingOf(cards: ReadonlyMap<string, Card>, total: number): Standing {
  const counts: Standing['counts'] = {}
  for (const { state } of cards.values()) counts[state] = (counts[state] ?? 0) + 1
  const ended = ENDED.reduce((sum, state) => sum + (counts[state] ?? 0), 0)
  return { cards, counts, total, isDone: ended === total }
}

/** The todos a worker process holds: under a lease, or by a question it has asked. */
export function heldBy({ cards }: Standing, { pid }: { pid: number }): Card[] {
  return [...cards.values()].filter(({ owner }) => owner?.endsWith(`/${workerName(pid)}`))
}

/** What a worker process calls itself when it claims. */
export const workerName = (pid: number): string => `pid-${pid}`
