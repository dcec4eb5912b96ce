import { expect, test } from 'vitest'
import { claim, claimById } from '#lib/queue/claim'
import { enqueue } from '#lib/queue/enqueue'
import { endpoint, registered } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { given, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { codeOf } from '../support/refusal'

const { db, sql } = database()
keepsInvariants(db)

const titles = async (queue: string, limit = 100) =>
  (await claim(db, { queues: [queue], limit }, WORKER)).map(({ title }) => title)

const todoIn = (queue: string, title: string, more: object = {}) => ({ queue, title, ...more })

test('the highest priority goes first, then the longest available, then the smaller id', async () => {
  const titled = ['low', 'second', 'first', 'third', 'fourth']
  const priorities = [-1, 5, 5, 0, 0]
  const todos = titled.map((title, at) => todoIn('order', title, { priority: priorities[at] }))
  const [, , first] = await enqueue(db, todos, OPERATOR)
  await backdate(db, first?.todo.id as string, { available_at: 60 })
  expect(await titles('order', 2)).toEqual(['first', 'second'])
  expect(await titles('order')).toEqual(['third', 'fourth', 'low'])
})

test('over several queues the best of all goes first', async () => {
  await enqueue(
    db,
    [todoIn('a', 'a1'), todoIn('b', 'b1', { priority: 2 }), todoIn('c', 'c1', { priority: 1 })],
    OPERATOR,
  )
  const claimed = await claim(db, { queues: ['a', 'b', 'c'], limit: 2 }, WORKER)
  expect(claimed.map(({ title }) => title)).toEqual(['b1', 'c1'])
  expect((await claim(db, { queues: ['a', 'b', 'c'], limit: 2 }, WORKER)).map(({ title }) => title)).toEqual(['a1'])
})

test('a todo is claimed once it is due and not before', async () => {
  const { id } = await given(db, 'pending', { todo: { queue: 'later', delay_seconds: 60 } })
  const [at] = await enqueue(db, [todoIn('later', 'at a time', { available_at: '2999-01-01T00:00:00.000Z' })], OPERATOR)
  expect(at?.todo.available_at).toBe('2999-01-01T00:00:00.000Z')
  expect(await titles('later')).toEqual([])
  expect(await codeOf(claimById(db, id, {}, WORKER))).toBe('invalid_state')
  await backdate(db, id, { available_at: 0 })
  expect(await titles('later')).toEqual(['Some work'])
})

test('a paused queue gives nothing, however it is asked', async () => {
  const { id } = await given(db, 'pending', { todo: { queue: 'paused' } })
  await sql`UPDATE queues SET paused = true WHERE name = 'paused'`
  expect(await titles('paused')).toEqual([])
  expect(await codeOf(claimById(db, id, {}, WORKER))).toBe('invalid_state')
  await sql`UPDATE queues SET paused = false WHERE name = 'paused'`
  expect(await titles('paused')).toEqual(['Some work'])
})

test('an assigned todo is claimed by nobody else', async () => {
  const mine = await registered(db, 'mine')
  const { id } = await given(db, 'pending', { todo: { queue: 'assigned', assignee: 'mine' } })
  expect(await titles('assigned')).toEqual([])
  expect(await codeOf(claimById(db, id, {}, WORKER))).toBe('invalid_state')
  const [todo] = await claim(db, { queues: ['assigned'] }, mine)
  expect(todo).toMatchObject({ id, assignee: 'mine', owner: 'mine/default' })
})

test('a todo past its deadline, or whose allowance is used up, is not claimed', async () => {
  await given(db, 'pending', { todo: { queue: 'over' }, ago: { deadline_at: 1 } })
  const spent = await given(db, 'pending', { todo: { queue: 'over' }, failures: 1 })
  await sql`UPDATE todos SET max_attempts = 1 WHERE id = ${spent.id}`
  expect(await titles('over')).toEqual([])
  expect(await codeOf(claimById(db, spent.id, {}, WORKER))).toBe('invalid_state')
})

test('a lapsed lease is taken over by no claim', async () => {
  const { id } = await given(db, 'claimed', { todo: { queue: 'lapsed' }, ago: { lease_expires_at: 3600 } })
  expect(await titles('lapsed')).toEqual([])
  expect(await codeOf(claimById(db, id, {}, WORKER))).toBe('invalid_state')
})

test('a claim passes over what somebody has locked, and gets nothing rather than wait', async () => {
  const { id } = await given(db, 'pending', { todo: { queue: 'locked', priority: 9, title: 'Locked' } })
  await given(db, 'pending', { todo: { queue: 'locked', title: 'Free' } })
  await db.transaction(async (tx) => {
    await tx.query({ text: 'SELECT FROM todos WHERE id = $1 FOR UPDATE', values: [id] })
    expect(await titles('locked', 1)).toEqual(['Free'])
    expect(await titles('locked', 1)).toEqual([])
  })
  expect(await titles('locked', 1)).toEqual(['Locked'])
})

test('an endpoint sees only its queues', async () => {
  const narrow = endpoint('narrow', { queues: ['open'] })
  const { id } = await given(db, 'pending', { todo: { queue: 'closed' } })
  await given(db, 'pending', { todo: { queue: 'open', title: 'In the open' } })
  expect(await codeOf(claim(db, { queues: ['closed'] }, narrow))).toBe('forbidden')
  expect(await codeOf(claimById(db, id, {}, narrow))).toBe('not_found')
  expect((await claim(db, { limit: 10 }, narrow)).map(({ title }) => title)).toEqual(['In the open'])
})

test('a claim opens an attempt and tells whose it is', async () => {
  const { id } = await given(db, 'pending', { todo: { queue: 'told' } })
  const claimed = await claimById(db, id, { worker: 'w7' }, WORKER)
  expect(claimed).toMatchObject({ state: 'claimed', owner: 'worker-1/w7', attempts: 1, lease_epoch: 1, failures: 0 })
  expect(
    await sql`SELECT seq, lease_epoch, owner, last_heartbeat_at = claimed_at AS seen, ended_at FROM todo_attempts
    WHERE todo_id = ${id}`,
  ).toEqual([{ seq: 1, lease_epoch: 1, owner: 'worker-1/w7', seen: true, ended_at: null }])
})
