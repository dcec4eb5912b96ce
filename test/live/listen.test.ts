import { afterEach, describe, expect, test } from 'vitest'
import { type Bell, ring } from '#lib/db/bell'
import { connect } from '#lib/db/connect'
import { type ListenTiming, listen } from '#lib/db/listen'
import { startLive } from '#lib/live/live'
import { exposition } from '#lib/ops/metrics'
import { database } from '../support/database'
import { startProxy } from '../support/proxy'

const { db, sql, url } = database()

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** A listener that tells how it stands and what it heard. */
function listener(timing: Partial<ListenTiming> = {}, on = db) {
  const standing = { isUp: false, reasons: [] as string[], heard: [] as Bell[] }
  const { stop } = listen(
    on,
    {
      rang: (bell) => standing.heard.push(bell),
      up: () => {
        standing.isUp = true
      },
      down: (reason) => {
        standing.isUp = false
        standing.reasons.push(reason.message)
      },
    },
    timing,
  )
  ends.push(stop)
  return standing
}

async function through() {
  const proxy = await startProxy(url)
  const distant = connect({ databaseUrl: proxy.url, max: 2 })
  // The proxy ends first: the pool waits for its connections, and a frozen one would never end.
  ends.push(distant.close, proxy.close)
  return { proxy, distant }
}

const listeners = () =>
  sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'switchboard-listener'`

describe('the listener', () => {
  test('hears every bell of every process', async () => {
    const one = listener()
    const other = listener()
    await expect.poll(() => one.isUp && other.isUp).toBe(true)
    ring(db, 'log')
    ring(db, 'ready')
    await expect
      .poll(() => [one, other].map(({ heard }) => [...heard].sort()))
      .toEqual([
        ['log', 'ready'],
        ['log', 'ready'],
      ])
  })

  test('holds one connection, and none of the pool', async () => {
    const one = listener()
    await expect.poll(() => one.isUp).toBe(true)
    expect(await listeners()).toHaveLength(1)
  })

  test('connects again when the server ends its connection', async () => {
    const one = listener({ retryMs: 10 })
    await expect.poll(() => one.isUp).toBe(true)
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'switchboard-listener'`
    await expect.poll(() => one.reasons).toHaveLength(1)
    await expect.poll(() => one.isUp).toBe(true)
    ring(db, 'log')
    await expect.poll(() => one.heard).toEqual(['log'])
  })

  test('notices a connection that is open but carries nothing any more', async () => {
    const { proxy, distant } = await through()
    const one = listener({ beatMs: 30, answerMs: 300, retryMs: 10 }, distant)
    await expect.poll(() => one.isUp).toBe(true)
    proxy.freeze()
    await expect.poll(() => one.reasons, { timeout: 3000 }).toContain('No answer within 300 ms')
    // On a busy machine the next connection may be given up as well, and a bell is lost while there is none.
    const heardAgain = () => {
      ring(db, 'ready')
      return one.heard
    }
    await expect.poll(heardAgain, { timeout: 10_000 }).toContain('ready')
  })

  test('tells a reason once, however often it fails for it', async () => {
    const { proxy, distant } = await through()
    await proxy.close()
    const one = listener({ retryMs: 1, mostRetryMs: 2 }, distant)
    await expect.poll(() => one.reasons).toHaveLength(1)
    expect(one.reasons[0]).toMatch(/ECONNREFUSED/)
    await proxy.open()
    await expect.poll(() => one.isUp).toBe(true)
    expect(one.reasons).toHaveLength(1)
  })

  test('does not count as up where notifications get lost', async () => {
    // The pool speaks to another database, so that what it sends never comes in: as through a transaction pooler.
    const elsewhere = Object.assign(connect({ databaseUrl: url, max: 1 }), { url: new URL('postgres', url).href })
    ends.push(elsewhere.close)
    const one = listener({ answerMs: 100, retryMs: 10 }, elsewhere)
    await expect
      .poll(() => one.reasons, { timeout: 5000 })
      .toContain('Notifications get lost on their way, as behind a pooler')
    expect(one.isUp).toBe(false)
  })

  test('leaves nothing behind when it is stopped, whatever it was doing', async () => {
    const { proxy, distant } = await through()
    const one = listener({}, distant)
    await expect.poll(() => one.isUp).toBe(true)
    proxy.freeze()
    await ends.pop()?.()
    await proxy.close()
    await proxy.open()
    await expect.poll(listeners).toEqual([])
  })
})

test('the gauge says whether notifications arrive', async () => {
  const gaugeLine = async () =>
    (await exposition()).split('\n').find((line) => line.startsWith('switchboard_listener_up '))
  const live = await startLive(db)
  await expect.poll(gaugeLine).toBe('switchboard_listener_up 1')
  await live.stop()
  expect(await gaugeLine()).toBe('switchboard_listener_up 0')
})
