import { expect, test } from 'vitest'
import { database } from '../support/database'

const { sql } = database()

test('a session keeps its plans, compiles none of them, and speaks UTC', async () => {
  expect(
    await sql`SELECT current_setting('plan_cache_mode') AS plans, current_setting('jit') AS jit,
    current_setting('timezone') AS zone`,
  ).toEqual([{ plans: 'force_generic_plan', jit: 'off', zone: 'UTC' }])
})

test('times come as ISO 8601 in UTC with milliseconds, and 64-bit counts as numbers', async () => {
  expect(
    await sql`SELECT '2026-11-30 21:58:27.123456+02'::timestamptz AS a, '2026-01-01 00:00:00Z'::timestamptz AS b,
    '2026-01-01 00:00:00.05Z'::timestamptz AS c, count(*) AS n`,
  ).toEqual([{ a: '2026-11-30T19:58:27.123Z', b: '2026-01-01T00:00:00.000Z', c: '2026-01-01T00:00:00.050Z', n: 1 }])
})
