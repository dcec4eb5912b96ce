import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ring } from '#lib/db/bell'
import { connect } from '#lib/db/connect'
import { type Live, startLive } from '#lib/live/live'
import type { Wanted } from '#lib/live/waiters'
import { claim } from '#lib/queue/claim'
import { complete } from '#lib/queue/complete'
import { enqueue } from '#lib/queue/enqueue'
import { release } from '#lib/queue/release'
import type { ClaimedTodo } from '#lib/wire/todo'
import { endpoint, registered } from '../support/callers'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'

const { db, url } = database()

let live: Live
beforeEach(async () => {
  live = await startLive(db)
  await expect.poll(() => live.isListening).toBe(true)
})
afterEach(() => live.stop())

const LONG_MS = 10_000

const anywhere: Wanted = { queues: null, endpoint: WORKER.name }
const inQueue = (queue: string): Wanted => ({ queues: [queue], endpoint: WORKER.name })

/** A claimer that waits, and how often it has tried. */
function claimer(
  wanted: Wanted,
  { timeoutMs = LONG_MS, signal = undefined as AbortSignal | undefined, limit = 1 } = {},
) {
  const queues = wanted.queues ?? undefined
  const by = wanted.endpoint === WORKER.name ? WORKER : endpoint(wanted.endpoint)
  const state = { tries: 0, claimed: Promise.resolve<ClaimedTodo[]>([]) }
  state.claimed = live.whenReady(wanted, { timeoutMs, signal }, () =>
    claim(db, { queues, limit }, by).finally(() => {
      state.tries++
    }),
  )
  return state
}

/** Until every claimer has tried once and so waits. */
const waiting = (...claimers: { tries: number }[]) =>
  expect.poll(() => claimers.every(({ tries }) => tries > 0)).toBe(true)

const idsOf = (todos: readonly { id: string }[]) => todos.map(({ id }) => id)

describe('a waiting claimer', () => {
  test('gets at once what is ready already', async () => {
    const { id } = await given(db, 'pending', { todo: { queue: 'at-once' } })
    expect(idsOf(await claimer(inQueue('at-once')).claimed)).toEqual([id])
  })

  test('gets a todo that another process enqueues, within 100 ms', async () => {
    const other = connect({ databaseUrl: url, max: 1 })
    const took: number[] = []
    for (let round = 0; round < 5; round++) {
      const one = claimer(inQueue('across'))
      await waiting(one)
      const [made] = await enqueue(other, [{ queue: 'across', title: 'From afar' }], OPERATOR)
      const began = performance.now()
      expect(idsOf(await one.claimed)).toEqual([made?.todo.id])
      took.push(performance.now() - began)
    }
    // The best of some: other tests use the same machine.
    expect(Math.min(...took)).toBeLessThan(100)
    await other.close()
  })

  test('is woken alone for one todo, and first if it came first', async () => {
    const all = []
    for (let n = 0; n < 5; n++) {
      all.push(claimer(inQueue('one-by-one')))
      await waiting(...all)
    }
    const before = all.map(({ tries }) => tries)
    const { id } = await given(db, 'pending', { todo: { queue: 'one-by-one' } })
    expect(idsOf((await all[0]?.claimed) ?? [])).toEqual([id])
    // The poll of once a second may have woken the next of them, never all.
    const woken = all.filter(({ tries }, index) => tries > (before[index] as number))
    expect(woken.length).toBeLessThanOrEqual(2)
    await live.stop()
    expect((await Promise.all(all.slice(1).map(({ claimed }) => claimed))).flat()).toEqual([])
  })

  test('is woken for each of many todos', async () => {
    const all = Array.from({ length: 8 }, () => claimer(inQueue('many')))
    await waiting(...all)
    const titles = Array.from({ length: 8 }, (_, n) => ({ queue: 'many', title: `Todo ${n}` }))
    const made = await enqueue(db, titles, OPERATOR)
    const claimed = (await Promise.all(all.map((one) => one.claimed))).flat()
    expect(idsOf(claimed).sort()).toEqual(idsOf(made.map(({ todo }) => todo)).sort())
  })

  test('is not woken by another queue, nor by a todo that is not due yet', async () => {
    const one = claimer(inQueue('mine'), { timeoutMs: 300 })
    await waiting(one)
    const before = one.tries
    await given(db, 'pending', { todo: { queue: 'not-mine' } })
    await given(db, 'pending', { todo: { queue: 'mine', delay_seconds: 3600 } })
    expect(await one.claimed).toEqual([])
    expect(one.tries).toBe(before)
  })

  test('is passed over for a todo assigned to somebody else', async () => {
    const assignee = await registered(db, 'the-assignee')
    const one = claimer(inQueue('assigned'))
    await waiting(one)
    const other = live.whenReady({ queues: ['assigned'], endpoint: assignee.name }, { timeoutMs: LONG_MS }, () =>
      claim(db, { queues: ['assigned'] }, assignee),
    )
    const { id } = await given(db, 'pending', { todo: { queue: 'assigned', assignee: assignee.name } })
    expect(idsOf(await other)).toEqual([id])
    await live.stop()
    expect(await one.claimed).toEqual([])
  })

  test('gets what a bell without an event tells of, and passes it on to as many as there are todos', async () => {
    const delayed = []
    for (let n = 0; n < 6; n++)
      delayed.push(await given(db, 'pending', { todo: { queue: 'delayed', delay_seconds: 3600 } }))
    const all = Array.from({ length: 6 }, () => claimer(inQueue('delayed')))
    await waiting(...all)
    await db.query({ text: `UPDATE todos SET available_at = now() WHERE queue = 'delayed'` })
    ring(db, 'ready')
    const claimed = (await Promise.all(all.map((one) => one.claimed))).flat()
    expect(idsOf(claimed).sort()).toEqual(delayed.map(({ id }) => id).sort())
  })

  test('finds by polling what nobody rang for', async () => {
    const { id } = await given(db, 'pending', { todo: { queue: 'silent', delay_seconds: 3600 } })
    const one = claimer(inQueue('silent'))
    await waiting(one)
    await db.query({ text: `UPDATE todos SET available_at = now() WHERE queue = 'silent'` })
    expect(idsOf(await one.claimed)).toEqual([id])
  })

  test('gets nothing when the time is up', async () => {
    expect(await claimer(inQueue('nothing'), { timeoutMs: 50 }).claimed).toEqual([])
  })

  test('leaves its wake to the next when its client is gone', async () => {
    const gone = new AbortController()
    let tried = 0
    const one = live.whenReady(inQueue('gone'), { timeoutMs: LONG_MS, signal: gone.signal }, async () => {
      // The client goes while its second try is under way, which finds nothing.
      if (++tried === 2) gone.abort()
      return []
    })
    await expect.poll(() => tried).toBe(1)
    const next = claimer(inQueue('gone'))
    await waiting(next)
    const first = await given(db, 'pending', { todo: { queue: 'gone' } })
    const second = await given(db, 'pending', { todo: { queue: 'gone' } })
    expect(await one).toEqual([])
    expect([first.id, second.id]).toContain(idsOf(await next.claimed)[0])
  })

  test('does not try again once its client is gone', async () => {
    const gone = new AbortController()
    const one = claimer(inQueue('left'), { signal: gone.signal })
    await waiting(one)
    gone.abort()
    expect(await one.claimed).toEqual([])
    const { id } = await given(db, 'pending', { todo: { queue: 'left' } })
    expect((await now(db, id)).state).toBe('pending')
  })

  test('waits for one todo among all', async () => {
    const wanted = await given(db, 'claimed', { todo: { queue: 'by-id' } })
    const one = live.whenReady({ ...anywhere, todoId: wanted.id }, { timeoutMs: LONG_MS }, async () =>
      (await now(db, wanted.id)).state === 'pending' ? ['ready'] : [],
    )
    await given(db, 'pending', { todo: { queue: 'by-id' } })
    await release(db, wanted.held, WORKER)
    expect(await one).toEqual(['ready'])
  })

  test('passes on the error of its claim', async () => {
    const failing = live.whenReady(anywhere, { timeoutMs: LONG_MS }, () => Promise.reject(new Error('No claim')))
    await expect(failing).rejects.toThrow('No claim')
  })

  test('is let go, empty, when the process stops', async () => {
    const one = claimer(inQueue('stopping'))
    await waiting(one)
    await live.stop()
    expect(await one.claimed).toEqual([])
  })
})

describe('a waiting reader', () => {
  const ended = async (id: string) => {
    const todo = await now(db, id)
    return todo.state === 'completed' ? todo : null
  }

  test('reads at once, and again after every event of the todo', async () => {
    const { id, held } = await given(db, 'claimed')
    const one = live.whenTodo(id, { timeoutMs: LONG_MS }, () => ended(id))
    const other = live.whenTodo(id, { timeoutMs: LONG_MS }, () => ended(id))
    await complete(db, held, WORKER, 'done')
    expect(await Promise.all([one, other])).toMatchObject([{ result: 'done' }, { result: 'done' }])
  })

  test('gets null when the time is up, and when its client is gone', async () => {
    const { id } = await given(db, 'pending')
    expect(await live.whenTodo(id, { timeoutMs: 30 }, () => ended(id))).toBeNull()
    expect(await live.whenTodo(id, { timeoutMs: LONG_MS, signal: AbortSignal.timeout(30) }, () => ended(id))).toBeNull()
  })
})
