import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRefresher } from '#lib/query/refresher'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

function refreshing() {
  const client = new QueryClient()
  const invalidate = vi.spyOn(client, 'invalidateQueries')
  const refresher = createRefresher(client, { keys: [['counts']], ms: 5000 })
  return {
    refresher,
    times: (name: string) => invalidate.mock.calls.filter(([given]) => given?.queryKey?.[0] === name).length,
  }
}

test('what is in doubt is fetched at once, and then once a second however often it is asked for', async () => {
  const { refresher, times } = refreshing()
  for (let n = 0; n < 39; n++) {
    refresher.refresh([['todo', 'a']])
    await vi.advanceTimersByTimeAsync(50)
  }
  expect(times('todo')).toBe(2)
  await vi.advanceTimersByTimeAsync(1000)
  expect(times('todo')).toBe(3)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(times('todo')).toBe(3)
  refresher.stop()
})

test('slow ones are fetched once in their time, and once more after the last was asked for', async () => {
  const { refresher, times } = refreshing()
  refresher.refresh([['counts']])
  expect(times('counts')).toBe(0)
  await vi.advanceTimersByTimeAsync(5000)
  expect(times('counts')).toBe(1)
  refresher.refresh([['counts']])
  await vi.advanceTimersByTimeAsync(5000)
  expect(times('counts')).toBe(2)
  refresher.stop()
})
