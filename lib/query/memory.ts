import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'
import { createKnown, type Known, type Latest } from './known'

const MOST_EVENTS = 20_000

/** What a cache remembers besides its answers: the latest of each todo, and which facts it has been told. */
interface Memory {
  known: Known
  /** Whether this fact was not told before; from now on it was. */
  isNew(eventId: number): boolean
  /** Notes that an answer to this key is asked for. */
  asked(key: QueryKey): void
  /** What has become known since the answer that has now come was asked for. */
  meanwhile(key: QueryKey): Latest[]
}

const memories = new WeakMap<QueryClient, Memory>()

/** The memory that belongs to this cache. */
export function memoryOf(client: QueryClient): Memory {
  const memory = memories.get(client) ?? createMemory()
  memories.set(client, memory)
  return memory
}

function createMemory(): Memory {
  const known = createKnown()
  const told = new Set<number>()
  const askedAt = new Map<string, number>()
  return {
    known,
    isNew: (eventId) => {
      if (told.has(eventId)) return false
      told.add(eventId)
      if (told.size > MOST_EVENTS) told.delete(told.values().next().value as number)
      return true
    },
    asked: (key) => {
      // The first page of several, or a call that was given up for this one: what was known then is what counts.
      const hash = hashKey(key)
      if (!askedAt.has(hash)) askedAt.set(hash, known.mark())
    },
    meanwhile: (key) => {
      const hash = hashKey(key)
      const since = askedAt.get(hash)
      askedAt.delete(hash)
      return since === undefined ? [] : known.since(since)
    },
  }
}
