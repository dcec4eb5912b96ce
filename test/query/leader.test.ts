import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Candidacy, standForLeader } from '#lib/query/leader'

/** A browser over plain http: no Web Locks, and a storage that all its tabs share. */
function plainBrowser(): void {
  const items = new Map<string, string>()
  vi.stubGlobal('navigator', {})
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
  })
}

let tabs: { candidacy: Candidacy; isLeading: boolean }[] = []

function openTab(): (typeof tabs)[number] {
  const tab = { isLeading: false } as (typeof tabs)[number]
  tab.candidacy = standForLeader(() => {
    tab.isLeading = true
    return () => {
      tab.isLeading = false
    }
  })
  tabs.push(tab)
  return tab
}

const leaders = () => tabs.flatMap(({ isLeading }, index) => (isLeading ? [index] : []))

beforeEach(() => {
  vi.useFakeTimers()
  plainBrowser()
})

afterEach(() => {
  for (const { candidacy } of tabs) candidacy.leave()
  tabs = []
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('of many tabs one leads, and when it closes another does', async () => {
  for (let n = 0; n < 8; n++) openTab()
  await vi.advanceTimersByTimeAsync(3000)
  expect(leaders()).toHaveLength(1)
  const [first] = leaders()
  tabs[first as number]?.candidacy.leave()
  await vi.advanceTimersByTimeAsync(3000)
  expect(leaders()).toHaveLength(1)
  expect(leaders()).not.toEqual([first])
})

test('a tab takes over from a leader that is gone without a word, and from one that sleeps', async () => {
  const [first, second] = [openTab(), openTab()]
  await vi.advanceTimersByTimeAsync(2000)
  expect(leaders()).toEqual([0])
  second.candidacy.takeOver()
  await vi.advanceTimersByTimeAsync(2000)
  expect(leaders()).toEqual([1])
  expect(first.isLeading).toBe(false)
})
