import { InfiniteQueryObserver, QueryObserver } from '@tanstack/react-query'
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import type { State } from '#lib/model/states'
import { applyFrames } from '#lib/query/cache'
import type { TodoList } from '#lib/query/column'
import type { Tally } from '#lib/query/counts'
import type { Filter } from '#lib/query/filter'
import { KEYS } from '#lib/query/keys'
import { createQueryClient } from '#lib/query/query-client'
import { countsOf, todosOf } from '#lib/query/todos'
import { times } from '../support/numbers'
import { cardOf, placeOf, QueueModel } from './queue-model'

const COLUMNS: { states: State[]; filter: Filter }[] = [
  { states: ['pending'], filter: {} },
  { states: ['claimed'], filter: {} },
  { states: ['completed'], filter: { queue: 'odd' } },
  { states: ['canceled', 'rejected'], filter: {} },
  { states: ['pending'], filter: { q: 'todo 1' } },
]

afterEach(() => {
  vi.unstubAllGlobals()
})

/** A page that watches the columns of a queue whose answers wait until they are let through. */
function watching(queue: QueueModel) {
  const waiting: (() => void)[] = []
  vi.stubGlobal('fetch', (address: string) => {
    const url = new URL(address, 'http://page')
    const { queue: name, q } = Object.fromEntries(url.searchParams)
    const states = url.searchParams.getAll('state') as State[]
    const answer = queue.list(
      states,
      { ...(name ? { queue: name } : {}), ...(q ? { q } : {}) },
      url.searchParams.get('cursor'),
    )
    return new Promise((resolve) => waiting.push(() => resolve(Response.json(answer))))
  })
  const client = createQueryClient()
  const columns = COLUMNS.map(({ states, filter }) => new InfiniteQueryObserver(client, todosOf(states, filter)))
  const counts = new QueryObserver(client, countsOf({}))
  const ends = [...columns, counts].map((observer) => observer.subscribe(() => {}))

  /** Lets one waiting answer through. */
  async function letThrough(which: number): Promise<void> {
    waiting.splice(which % Math.max(waiting.length, 1), 1)[0]?.()
    await settled()
  }

  return {
    client,
    letThrough,
    refetch: (which: number) => void client.invalidateQueries({ queryKey: keyOf(which % COLUMNS.length) }),
    more: (which: number) => void columns[which % columns.length]?.fetchNextPage({ cancelRefetch: false }),
    letAllThrough: async () => {
      while (waiting.length > 0) await letThrough(0)
    },
    end: () => {
      for (const end of ends) end()
      client.clear()
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

const keyOf = (which: number) => {
  const { states, filter } = COLUMNS[which] as (typeof COLUMNS)[number]
  return KEYS.list(states, filter)
}

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create' as const), a: fc.nat(), b: fc.nat() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('move' as const), a: fc.nat(), b: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('tell' as const, 'tell late' as const), a: fc.nat(), b: fc.nat() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('refetch' as const, 'more' as const, 'let through' as const),
      a: fc.nat(),
      b: fc.nat(),
    }),
  },
)

type Page = ReturnType<typeof watching>
interface Step {
  do: 'create' | 'move' | 'tell' | 'tell late' | 'refetch' | 'more' | 'let through'
  a: number
  b: number
}

async function take(queue: QueueModel, page: Page, { do: what, a, b }: Step, begun: number): Promise<void> {
  if (what === 'create') queue.create()
  else if (what === 'move') queue.move(a, b)
  else if (what === 'refetch') page.refetch(a)
  else if (what === 'more') page.more(a)
  else if (what === 'let through') await page.letThrough(a)
  else if (queue.log.length > begun) {
    const index = begun + (a % (queue.log.length - begun))
    applyFrames(page.client, [queue.frame(index, what === 'tell late')])
  }
}

function expectAsRefetched(queue: QueueModel, page: Page): void {
  COLUMNS.forEach(({ states, filter }, index) => {
    const list = page.client.getQueryData<TodoList>(keyOf(index))
    const shown = list?.pages.flatMap(({ todos }) => todos) ?? []
    const start = list?.pages.at(-1)?.next?.cursor ?? ''
    const there = queue.among(states, filter).filter((card) => placeOf(states, card) >= start)
    expect(shown.map(({ id, version }) => [id, version])).toEqual(there.map(({ id, version }) => [id, version]))
  })
}

test('frames in any order, told twice, among answers that were overtaken, end in the board that a refetch gives', async () => {
  const given = fc.asyncProperty(
    fc.integer({ min: 1, max: 160 }),
    fc.array(step, { maxLength: 120 }),
    async (first, steps) => {
      const queue = new QueueModel()
      for (let n = 0; n < first; n++) queue.create()
      const begun = queue.log.length
      const page = watching(queue)
      for (const one of steps) await take(queue, page, one, begun)

      for (let index = begun; index < queue.log.length; index++) applyFrames(page.client, [queue.frame(index, false)])
      await page.letAllThrough()
      expectAsRefetched(queue, page)
      page.end()
    },
  )
  await fc.assert(given, { numRuns: times(150, 3000) })
})

test('counts follow the facts, each counted once, in whatever order they are told', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 40 }),
      fc.infiniteStream(fc.nat()),
      async (moves, order) => {
        const queue = new QueueModel()
        for (let n = 0; n < 10; n++) queue.create()
        const begun = queue.log.length
        const page = watching(queue)
        await page.letAllThrough()
        for (const [which, way] of moves) queue.move(which, way)

        const told = queue.log.slice(begun).flatMap((_, index) => [begun + index, begun + index])
        while (told.length > 0) {
          const [index] = told.splice((order.next().value ?? 0) % told.length, 1)
          applyFrames(page.client, [queue.frame(index as number, true)])
        }
        expect(page.client.getQueryData<Tally>(KEYS.counts({}))?.counts).toEqual(queue.counts({}))
        page.end()
      },
    ),
    { numRuns: times(100, 2000) },
  )
})

test('a heartbeat moves the lease of a claimed card on, and never back', async () => {
  const queue = new QueueModel()
  queue.create()
  queue.move(0, 0)
  const page = watching(queue)
  await page.letAllThrough()
  const [card] = queue.among(['claimed'], {})
  const lease = (at: string) => ({
    name: 'lease' as const,
    data: { todo_id: card?.id ?? '', lease_expires_at: at, progress: { ratio: 0.5 } },
  })
  const shown = () => page.client.getQueryData<TodoList>(keyOf(1))?.pages[0]?.todos[0]

  applyFrames(page.client, [lease('2026-12-01T00:00:00.000Z')])
  applyFrames(page.client, [lease('2026-11-30T23:00:00.000Z')])
  expect(shown()).toMatchObject({ lease_expires_at: '2026-12-01T00:00:00.000Z', progress: { ratio: 0.5 } })

  queue.move(0, 0)
  applyFrames(page.client, [queue.frame(queue.log.length - 1, false), lease('2026-12-01T01:00:00.000Z')])
  expect(shown()).toBeUndefined()
  page.end()
})

test('a card outside the filter is neither shown nor counted', async () => {
  const queue = new QueueModel()
  const page = watching(queue)
  await page.letAllThrough()
  const fact = { ...cardOf(4), state: 'completed' as const, version: 5 }
  applyFrames(page.client, [
    {
      name: 'transition',
      data: {
        event_id: 1,
        todo: fact,
        verb: 'completed',
        from: 'claimed',
        to: 'completed',
        reason: null,
        actor: 'worker:a/b',
        attempt_seq: 1,
        lease_epoch: 1,
        at: fact.updated_at,
      },
    },
  ])
  expect(page.client.getQueryData<TodoList>(keyOf(2))?.pages[0]?.todos).toEqual([])
  page.end()
})
