import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createProgress, seconds } from '#scripts/progress.mjs'

/** A stream that keeps what was shown on it. */
function screen({ isTTY }: { isTTY: boolean }) {
  const out = Object.assign(new PassThrough(), { isTTY, columns: 80 })
  return { out: out as unknown as NodeJS.WriteStream, shown: () => String(out.read() ?? '') }
}

test('without a terminal every step is one plain line with what came of it', async () => {
  const { out, shown } = screen({ isTTY: false })
  const progress = createProgress(out)
  const result = await progress.step('Build', async (tell) => {
    tell('building')
    tell('built')
    return 7
  })
  expect(result).toBe(7)
  expect(shown()).toBe('  ✓ Build         built\n')
})

test('a step that fails is marked, and its error goes on', async () => {
  const { out, shown } = screen({ isTTY: false })
  const failing = createProgress(out).step('Build', () => Promise.reject(new Error('no disk')))
  await expect(failing).rejects.toThrow('no disk')
  expect(shown()).toBe('  ✗ Build\n')
})

test('what is said in the middle of a step stands above it', async () => {
  const { out, shown } = screen({ isTTY: false })
  const progress = createProgress(out)
  await progress.step('Processes', async () => progress.line('  web: slow'))
  expect(shown()).toBe('  web: slow\n  ✓ Processes\n')
})

test('durations read as people say them', () => {
  expect([40, 9_940, 12_400, 125_000].map(seconds)).toEqual(['0.0 s', '9.9 s', '12 s', '2 min 5 s'])
})
