import { expect, test } from 'vitest'
import { claim } from '#lib/queue/claim'
import { enqueue } from '#lib/queue/enqueue'
import { endpoint } from '../support/callers'
import { database } from '../support/database'
import { OPERATOR } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'

const { db, sql } = database({ max: 16 })
keepsInvariants(db)

const TODOS = times(240, 1000)
const CLAIMERS = 16

async function fill(queues: string[]): Promise<void> {
  const todos = Array.from({ length: TODOS }, (_, n) => ({
    queue: queues[n % queues.length] as string,
    title: `Work ${n}`,
    priority: n % 7,
  }))
  await enqueue(db, todos, OPERATOR)
}

/** Everything one claimer gets until there is nothing left. */
async function drain(name: string, queues: string[], limit: number): Promise<string[]> {
  const worker = endpoint(name)
  const got: string[] = []
  for (;;) {
    const todos = await claim(db, { queues, limit }, worker)
    if (todos.length === 0) return got
    got.push(...todos.map(({ id }) => id))
  }
}

test.each([
  ['one queue, one by one', ['alone'], 1],
  ['three queues, one by one', ['one', 'two', 'three'], 1],
  ['three queues, five at a time', ['four', 'five', 'six'], 5],
])('sixteen claimers get every todo once: %s', async (_, queues, limit) => {
  await fill(queues)
  const claimers = Array.from({ length: CLAIMERS }, (_, n) => drain(`claimer-${n}`, queues, limit))
  const got = (await Promise.all(claimers)).flat()
  expect(got).toHaveLength(TODOS)
  expect(new Set(got).size).toBe(TODOS)
  expect(
    await sql`SELECT count(*) AS attempts FROM todo_attempts a JOIN todos t ON t.id = a.todo_id
    WHERE t.queue = ANY(${queues}) AND a.seq = 1 AND a.ended_at IS NULL`,
  ).toEqual([{ attempts: TODOS }])
})

test('whoever asks while there is something left gets something, down to the last todo', async () => {
  const queues = ['left', 'middle', 'right']
  for (let round = 0; round < times(5, 50); round++) {
    const todos = Array.from({ length: CLAIMERS }, (_, n) => ({ queue: queues[n % 3] as string, title: `Work ${n}` }))
    await enqueue(db, todos, OPERATOR)
    const claims = Array.from({ length: CLAIMERS }, (_, n) => claim(db, { queues }, endpoint(`claimer-${n}`)))
    expect((await Promise.all(claims)).map(({ length }) => length)).toEqual(claims.map(() => 1))
  }
})
