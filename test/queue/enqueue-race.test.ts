import { expect, test } from 'vitest'
import { cancel } from '#lib/queue/cancel'
import { enqueue } from '#lib/queue/enqueue'
import { requeue } from '#lib/queue/requeue'
import { database } from '../support/database'
import { given, OPERATOR } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

const keyed = (queue: string, keys: string[]) => keys.map((key) => ({ queue, title: key, idempotency_key: key }))

test('fifty at once under one key are one todo, and one of them made it', async () => {
  for (let round = 0; round < times(3, 30); round++) {
    const calls = Array.from({ length: 50 }, () => enqueue(db, keyed(`once-${round}`, ['the same']), OPERATOR))
    const made = (await Promise.all(calls)).flat()
    expect(new Set(made.map(({ todo }) => todo.id)).size).toBe(1)
    expect(made.filter(({ created }) => created)).toHaveLength(1)
  }
})

test('batches with the same keys in opposite order never wait for each other in a ring', async () => {
  const keys = Array.from({ length: 60 }, (_, n) => `key ${n}`)
  for (let round = 0; round < times(6, 60); round++) {
    const queues = [`one-${round}`, `two-${round}`, `three-${round}`]
    const todos = queues.flatMap((queue) => keyed(queue, keys))
    const batches = [todos, [...todos].reverse(), [...todos.slice(90), ...todos.slice(0, 90)], [...todos].reverse()]
    const made = await Promise.all(batches.map((batch) => enqueue(db, batch, OPERATOR)))
    expect(made.flat().filter(({ created }) => created)).toHaveLength(todos.length)
    for (const [at, batch] of batches.entries()) {
      expect(made[at]?.map(({ todo }) => todo.title)).toEqual(batch.map(({ title }) => title))
    }
  }
  expect(await sql`SELECT queue, idempotency_key FROM todos GROUP BY 1, 2 HAVING count(*) > 1`).toEqual([])
})

test('an enqueue while the todo of its key ends gives that todo or a new one, never none', async () => {
  for (let round = 0; round < times(30, 300); round++) {
    const { id } = await given(db, 'pending', { todo: { queue: 'ending', idempotency_key: `key ${round}` } })
    const again = enqueue(db, keyed('ending', [`key ${round}`]), OPERATOR)
    const [[made]] = await Promise.all([again, cancel(db, id, OPERATOR)])
    expect(made?.created).toBe(made?.todo.id !== id)
  }
})

test('an enqueue and a requeue under one key at once: one live todo in the end', async () => {
  for (let round = 0; round < times(30, 300); round++) {
    const key = `back ${round}`
    const { id } = await given(db, 'canceled', { todo: { queue: 'back', idempotency_key: key } })
    const [code, [made]] = await Promise.all([
      codeOf(requeue(db, id, OPERATOR)),
      enqueue(db, keyed('back', [key]), OPERATOR),
    ])
    expect(code).toBe(made?.created ? 'duplicate_key' : null)
    expect(made?.todo.id === id).toBe(code === null)
  }
})
