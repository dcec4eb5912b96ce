import { expect, test } from 'vitest'
import { STATE_NAMES } from '#lib/model/states'
import { database } from '../support/database'

const { sql } = database()

test('the database allows exactly the states that the code knows', async () => {
  const [check] = await sql<{ definition: string }>`
    SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conname = 'todos_state_check'`
  const allowed = check?.definition.match(/'[^']+'/g)?.map((quoted) => quoted.slice(1, -1))
  expect(allowed?.sort()).toEqual([...STATE_NAMES].sort())
})
