import { expect, test, vi } from 'vitest'
import { type Exit, type Running, supervise } from '#scripts/supervise.mjs'

const BACKOFF = { firstMs: 2, mostMs: 8, healthyMs: 60_000 }
const CRASH: Exit = { code: 1, signal: null }

/** A promise and what settles it. */
function later<Value>() {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Something that runs until it is told to end, or is stopped. */
function running() {
  const { promise: exited, resolve: end } = later<Exit>()
  return { pid: 1, exited, end, stop: async () => end({ code: 0, signal: null }) }
}

const restarts = () => {
  const started: ReturnType<typeof running>[] = []
  return { started, start: async () => started[started.push(running()) - 1] as Running }
}

test('what ends is started again, slower every time up to a limit', async () => {
  const first = running()
  const { started, start } = restarts()
  const said: string[] = []
  const keeper = supervise({ name: 'web', first, start, report: (text) => said.push(text), backoff: BACKOFF })
  first.end({ code: null, signal: 'SIGKILL' })
  for (let crash = 0; crash < 4; crash++) {
    await vi.waitFor(() => expect(started).toHaveLength(crash + 1), { interval: 1 })
    started[crash]?.end(CRASH)
  }
  await vi.waitFor(() => expect(started).toHaveLength(5), { interval: 1 })
  await keeper.stop(1)
  expect(said[0]).toMatch(/^web was ended by SIGKILL; starting it again in/)
  expect(said[1]).toBe('web runs again')
  expect(said[2]).toMatch(/^web ended with code 1; starting it again in/)
  expect(said).toHaveLength(10)
})

test('what has been well for long is started again as soon as the first time', async () => {
  const waits: number[] = []
  const { started, start } = restarts()
  const first = running()
  const report = (text: string) => void (text.includes('again in') && waits.push(performance.now()))
  const keeper = supervise({ name: 'web', first, start, report, backoff: { firstMs: 1, mostMs: 60_000, healthyMs: 0 } })
  first.end(CRASH)
  // Twenty doublings of a millisecond would take the better part of an hour.
  for (let crash = 0; crash < 20; crash++) {
    await vi.waitFor(() => expect(started).toHaveLength(crash + 1), { interval: 1 })
    started[crash]?.end(CRASH)
  }
  await vi.waitFor(() => expect(started).toHaveLength(21), { interval: 1 })
  await keeper.stop(1)
  expect(waits).toHaveLength(21)
})

test('a start that fails is tried again and says why', async () => {
  const said: string[] = []
  const first = running()
  let tries = 0
  const again = running()
  const start = async () => {
    if (++tries < 3) throw new Error('no disk')
    return again
  }
  const keeper = supervise({ name: 'database', first, start, report: (text) => said.push(text), backoff: BACKOFF })
  first.end(CRASH)
  await vi.waitFor(() => expect(tries).toBe(3), { interval: 1 })
  await keeper.stop(1)
  expect(said[1]).toMatch(/database did not start \(no disk\)/)
})

test('a stop ends what runs and starts nothing more', async () => {
  const { started, start } = restarts()
  const first = running()
  const keeper = supervise({ name: 'web', first, start, report: () => {}, backoff: BACKOFF })
  await keeper.stop(1)
  await expect(first.exited).resolves.toEqual({ code: 0, signal: null })
  expect(started).toHaveLength(0)
})

test('a stop during the wait before a start ends the wait', async () => {
  const first = running()
  const { promise: waiting, resolve: report } = later<string>()
  const { started, start } = restarts()
  const backoff = { firstMs: 3_600_000, mostMs: 3_600_000, healthyMs: 1 }
  const keeper = supervise({ name: 'web', first, start, report, backoff })
  first.end(CRASH)
  await waiting
  await keeper.stop(1)
  expect(started).toHaveLength(0)
})

test('a stop while something starts ends that too', async () => {
  const first = running()
  const late = running()
  const { promise: begun, resolve: begin } = later<void>()
  const { promise: release, resolve: finish } = later<void>()
  const start = async () => {
    begin()
    await release
    return late
  }
  const keeper = supervise({ name: 'web', first, start, report: () => {}, backoff: BACKOFF })
  first.end(CRASH)
  await begun
  const stopped = keeper.stop(1)
  finish()
  await stopped
  await expect(late.exited).resolves.toEqual({ code: 0, signal: null })
})
