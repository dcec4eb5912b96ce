import { expect, test } from 'vitest'
import { cancel } from '#lib/queue/cancel'
import { claim } from '#lib/queue/claim'
import { enqueue, type NewTodo } from '#lib/queue/enqueue'
import { recentSettings } from '#lib/queue/settings'
import { todoSchema } from '#lib/wire/todo'
import { endpoint, registered } from '../support/callers'
import { database } from '../support/database'
import { given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf, refusalOf } from '../support/refusal'

const { db, sql } = database()
keepsInvariants(db)

const work = (more: Partial<NewTodo> = {}): NewTodo => ({ queue: 'main', title: 'Some work', ...more })

const one = async (more: Partial<NewTodo> = {}) => {
  const [made] = await enqueue(db, [work(more)], OPERATOR)
  if (!made) throw new Error('nothing was made')
  return made
}

test('a todo is made as it was given, and is pending', async () => {
  const given = {
    kind: 'review',
    payload: { nested: [1, 'é', null, { deep: true }] },
    priority: -3,
    idempotency_key: 'all of it',
    max_attempts: 7,
  }
  const { todo, created } = await one(given)
  expect(created).toBe(true)
  expect(todoSchema.parse(todo)).toEqual(todo)
  expect(todo).toMatchObject({ ...given, queue: 'main', state: 'pending', attempts: 0, lease_epoch: 0, version: 1 })
  expect(todo.available_at).toBe(todo.created_at)
  expect(await now(db, todo.id)).toEqual(todo)
  expect(
    await sql`SELECT verb, from_state, to_state, actor, attempt_seq, lease_epoch FROM todo_events
    WHERE todo_id = ${todo.id}`,
  ).toEqual([
    {
      verb: 'created',
      from_state: null,
      to_state: 'pending',
      actor: 'user:operator-1',
      attempt_seq: null,
      lease_epoch: 0,
    },
  ])
})

test.each([[null], ['text'], [0], [false], [[]], [{}], [[null, 1]]])('any JSON is a payload: %j', async (payload) => {
  expect((await one({ payload })).todo.payload).toEqual(payload)
})

test('a key that a live todo has gives that todo, as it stands', async () => {
  const { todo } = await one({ idempotency_key: 'k' })
  await claim(db, { queues: ['main'], limit: 100 }, WORKER)
  expect(await one({ idempotency_key: 'k', title: 'Not looked at' })).toEqual({
    todo: await now(db, todo.id),
    created: false,
  })
})

test('a key is one queue’s own, and free again once its todo has ended', async () => {
  const { todo } = await one({ idempotency_key: 'again' })
  expect((await one({ idempotency_key: 'again', queue: 'other' })).created).toBe(true)
  await cancel(db, todo.id, OPERATOR)
  const next = await one({ idempotency_key: 'again' })
  expect(next.created).toBe(true)
  expect(next.todo.id).not.toBe(todo.id)
})

test('a batch is answered in order, and a key that comes twice in it makes one todo', async () => {
  const { todo } = await one({ idempotency_key: 'before' })
  const batch = ['b', 'a', 'before', 'b', undefined, 'a', undefined].map((key, n) =>
    work({ title: `Work ${n}`, ...(key && { idempotency_key: key }) }),
  )
  const made = await enqueue(db, batch, OPERATOR)
  expect(made.map(({ created }) => created)).toEqual([true, true, false, false, true, false, true])
  expect(made.map(({ todo }) => todo.title)).toEqual([
    'Work 0',
    'Work 1',
    todo.title,
    'Work 0',
    'Work 4',
    'Work 1',
    'Work 6',
  ])
  expect(made.map(({ todo }) => todo.id)[2]).toBe(todo.id)
})

test('a batch of a thousand is made at once, in its order', async () => {
  const made = await enqueue(
    db,
    Array.from({ length: 1000 }, (_, n) => work({ queue: 'big', title: `Work ${n}` })),
    OPERATOR,
  )
  const claimed = await claim(db, { queues: ['big'], limit: 100 }, WORKER)
  expect(claimed.map(({ id }) => id)).toEqual(made.slice(0, 100).map(({ todo }) => todo.id))
})

test('a queue is created on first use, and what it says counts from then on', async () => {
  await one({ queue: 'new' })
  expect(
    await sql`SELECT paused, max_claimed, default_lease_seconds, max_attempts FROM queues WHERE name = 'new'`,
  ).toEqual([{ paused: false, max_claimed: null, default_lease_seconds: null, max_attempts: null }])
  await sql`UPDATE queues SET max_attempts = 8, default_lease_seconds = 77 WHERE name = 'new'`
  expect((await one({ queue: 'new' })).todo).toMatchObject({ max_attempts: 8, lease_seconds: 77 })
  expect((await one({ queue: 'new', max_attempts: 2 })).todo.max_attempts).toBe(2)
  await sql`INSERT INTO settings (key, value) VALUES ('max_attempts', '5'), ('default_lease_seconds', 'nonsense')`
  await recentSettings(db, true)
  expect((await one()).todo).toMatchObject({ max_attempts: 5, lease_seconds: 300 })
  expect((await one({ queue: 'new' })).todo.max_attempts).toBe(8)
  await sql`DELETE FROM settings`
  await recentSettings(db, true)
})

test('a queue outside the caller’s is forbidden, and then nothing of the batch is made', async () => {
  const narrow = endpoint('narrow', { queues: ['mine'] })
  const batch = [work({ queue: 'mine', title: 'Never made' }), work({ queue: 'yours', title: 'Never made' })]
  expect(await codeOf(enqueue(db, batch, narrow))).toBe('forbidden')
  expect(await sql`SELECT count(*) AS made FROM todos WHERE title = 'Never made'`).toEqual([{ made: 0 }])
  const [made] = await enqueue(db, [work({ queue: 'mine' })], narrow)
  expect(made?.todo.created_by_endpoint_id).toBe(narrow.id)
})

test('an assignee must be in force; a refusal tells where it stands, and nothing is made', async () => {
  await registered(db, 'here')
  await registered(db, 'gone', { revoked_at: '2020-01-01T00:00:00.000Z' })
  const { todo } = await one({ idempotency_key: 'first', assignee: 'here' })
  expect(todo.assignee).toBe('here')
  const batch = [
    work({ idempotency_key: 'first', assignee: 'never' }),
    work({ assignee: 'here', title: 'Unmade' }),
    work({ assignee: 'gone', title: 'Unmade' }),
    work({ assignee: 'nobody', title: 'Unmade' }),
  ]
  expect(await refusalOf(enqueue(db, batch, OPERATOR))).toMatchObject({
    code: 'validation_failed',
    facts: {
      errors: [
        { pointer: '/todos/2/assignee', message: expect.stringContaining('gone') },
        { pointer: '/todos/3/assignee', message: expect.stringContaining('nobody') },
      ],
    },
  })
  expect(await sql`SELECT count(*) AS made FROM todos WHERE title = 'Unmade'`).toEqual([{ made: 0 }])
  expect(await refusalOf(enqueue(db, [work({ assignee: 'gone' })], OPERATOR))).toMatchObject({
    facts: { errors: [{ pointer: '/assignee' }] },
  })
  expect(await refusalOf(enqueue(db, [work({ assignee: 'gone' })], OPERATOR, { isBatch: true }))).toMatchObject({
    facts: { errors: [{ pointer: '/todos/0/assignee' }] },
  })
})

test('what was enqueued before is found again even if the time of its assignee is over', async () => {
  const gone = await registered(db, 'soon-gone')
  const { todo } = await one({ idempotency_key: 'kept', assignee: 'soon-gone' })
  await sql`UPDATE endpoints SET expires_at = now() WHERE id = ${gone.id}`
  expect(await one({ idempotency_key: 'kept', assignee: 'soon-gone' })).toMatchObject({
    todo: { id: todo.id },
    created: false,
  })
})

test('the children of a todo have keys of their own', async () => {
  const parent = await given(db, 'waiting')
  await sql`UPDATE todos SET idempotency_key = 'shared' WHERE parent_id = ${parent.id}`
  expect((await one({ idempotency_key: 'shared' })).created).toBe(true)
})
