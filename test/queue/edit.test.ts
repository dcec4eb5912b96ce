import { expect, test } from 'vitest'
import { complete } from '#lib/queue/complete'
import { edit } from '#lib/queue/edit'
import { registered } from '../support/callers'
import { database } from '../support/database'
import { given, now, OPERATOR } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf, refusalOf } from '../support/refusal'

const { db, sql } = database()
keepsInvariants(db)

test('an operator changes a live todo, and what stood there before is kept', async () => {
  const { id, todo } = await given(db, 'pending', { todo: { priority: 1 } })
  const deadline_at = '2099-01-01T00:00:00.000Z'
  const edited = await edit(db, id, OPERATOR, { version: todo.version, priority: 9, deadline_at })
  expect(edited).toMatchObject({ priority: 9, deadline_at, max_attempts: todo.max_attempts, version: todo.version + 1 })
  const [event] =
    await sql`SELECT verb, from_state, to_state, actor, data FROM todo_events WHERE todo_id = ${id} AND verb = 'edited'`
  expect(event).toMatchObject({ from_state: null, to_state: null, actor: 'user:operator-1' })
  expect(event?.data).toEqual({
    before: { priority: 1, deadline_at: null },
    after: { priority: 9, deadline_at },
  })
})

test('null takes a deadline and an assignee away, and a name gives it to somebody', async () => {
  const { name } = await registered(db, 'translator')
  const { id, todo } = await given(db, 'pending', { todo: { deadline_at: '2099-01-01T00:00:00.000Z' } })
  const given1 = await edit(db, id, OPERATOR, { version: todo.version, assignee: name })
  expect(given1.assignee).toBe(name)
  const taken = await edit(db, id, OPERATOR, { version: given1.version, assignee: null, deadline_at: null })
  expect(taken).toMatchObject({ assignee: null, deadline_at: null })
})

test('of two who change the same version one is told so', async () => {
  const { id, todo } = await given(db, 'claimed')
  const change = (priority: number) => codeOf(edit(db, id, OPERATOR, { version: todo.version, priority }))
  expect((await Promise.all([change(1), change(2)])).sort()).toEqual([null, 'version_conflict'].sort())
  expect(await now(db, id)).toMatchObject({ version: todo.version + 1 })
})

test('neither an ended todo nor an unknown one can be changed, nor one made unclaimable', async () => {
  const ended = await given(db, 'claimed')
  await complete(db, ended.held, ended.worker, null)
  expect(await codeOf(edit(db, ended.id, OPERATOR, { version: 3, priority: 1 }))).toBe('todo_terminal')
  const nobody = '0192a000-0000-7000-8000-000000000000'
  expect(await codeOf(edit(db, nobody, OPERATOR, { version: 1, priority: 1 }))).toBe('not_found')
  const spent = await given(db, 'pending', { failures: 1, leaseExpirations: 1 })
  const refusal = await refusalOf(edit(db, spent.id, OPERATOR, { version: spent.todo.version, max_attempts: 2 }))
  expect(refusal).toMatchObject({ code: 'validation_failed', facts: { errors: [{ pointer: '/max_attempts' }] } })
  expect(await now(db, spent.id)).toEqual(spent.todo)
})
