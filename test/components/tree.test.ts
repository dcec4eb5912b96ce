import { expect, test } from 'vitest'
import { masked, showable } from '../../components/todo/tree'

test('what stands under a key that looks secret is masked, at any depth, and nothing else', () => {
  const payload = {
    user: 'ada',
    api_token: 'sk-1',
    nested: [{ password: 'x', passing: true }],
    authorization: { scheme: 'Bearer' },
  }
  const safe = {
    user: 'ada',
    api_token: '••••••••',
    nested: [{ password: '••••••••', passing: true }],
    authorization: '••••••••',
  }
  expect({ ...(masked(payload) as object) }).toEqual(safe)
  expect(JSON.parse(JSON.stringify(showable(payload)))).toEqual(safe)
})

test('a key named __proto__ is a key like others', () => {
  expect(JSON.stringify(showable(JSON.parse('{"__proto__":{"a":1}}')))).toBe('{"__proto__":{"a":1}}')
})

test('characters that deceive are shown, in keys and in texts', () => {
  expect(JSON.stringify(showable({ 'a\u202eb': 'x\u0007y' }))).toBe('{"a[U+202E]b":"x[U+0007]y"}')
})

test('a list of a hundred thousand comes in parts of at most a hundred, with nothing lost', () => {
  const list = Array.from({ length: 100_000 }, (_, index) => index)
  const leaves: unknown[] = []
  let widest = 0
  const walk = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return leaves.push(value)
    const parts = Object.values(value)
    widest = Math.max(widest, parts.length)
    return parts.forEach(walk)
  }
  walk(showable(list))
  expect(leaves).toEqual(list)
  expect(widest).toBeLessThanOrEqual(100)
  expect(Object.keys(showable(list) as object)[1]).toBe('10000 … 19999')
})

test('a value nested without end is cut, and does not end the page', () => {
  let deep: unknown = 'x'
  for (let depth = 0; depth < 50_000; depth++) deep = [deep]
  expect(JSON.stringify(showable(deep))).toContain('nested deeper')
  expect(JSON.stringify(masked(deep))).toContain('nested deeper')
})
