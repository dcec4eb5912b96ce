import { expect, test } from 'vitest'
import { door } from './door'

// Under plain `next start` nobody stands before the pages, and each sends a stranger away by itself. Needs the build.
const isNext = process.env.SWITCHBOARD_TEST_DOOR === 'next'
const api = door()

test.runIf(isNext).each([
  ['/board?todo=1&q=a+b', '/board?todo=1&q=a+b'],
  ['/inbox', '/inbox'],
  ['/inbox/1', '/inbox/1'],
  ['/todos/1?tab=questions', '/todos/1?tab=questions'],
  ['/health', '/health'],
  ['/settings', '/settings'],
])('a stranger at %s signs in to come back to it', async (path, next) => {
  const answer = await fetch(`${api.url}${path}`, { redirect: 'manual' })
  expect(answer.status).toBe(307)
  expect(answer.headers.get('location')).toBe(`/sign-in?next=${encodeURIComponent(next)}`)
})
