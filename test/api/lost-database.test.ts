import { describe, expect, test } from 'vitest'
import { isLostDatabase, isSetBack } from '#lib/api/lost-database'
import { connect } from '#lib/db/connect'
import { prisma } from '#lib/db/prisma'
import { door, PATIENT } from './door'

const api = door()

const cut = () => api.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'switchboard-web'`

test('connections cut under running calls give answers or unavailable, never internal, and the next calls work', async () => {
  const agent = await api.agent()
  const calls = Array.from({ length: 60 }, (_, at) => agent.post('/api/v1/todos', { queue: 'cut', title: `${at}` }))
  for (let round = 0; round < 5; round++) await cut()
  for (const { status, body, headers } of await Promise.all(calls)) {
    expect([201, 503]).toContain(status)
    if (status !== 503) continue
    expect(body).toMatchObject({ code: 'unavailable' })
    expect(headers.get('retry-after')).toBe('1')
  }
  await expect.poll(async () => (await agent.get('/api/v1/queues')).status, PATIENT).toBe(200)
  await expect
    .poll(async () => (await agent.post('/api/v1/todos', { queue: 'cut', title: 'after' })).status, PATIENT)
    .toBe(201)
})

describe('a database that is away', () => {
  const nowhere = connect({ databaseUrl: 'postgresql://nobody@127.0.0.1:1/none', applicationName: 'nowhere' })

  test('is known as such by what the driver and Prisma throw', async () => {
    const errors = await Promise.all(
      [nowhere.query({ text: 'SELECT 1' }), nowhere.transaction(async () => {}), prisma(nowhere).queues.findMany()].map(
        (attempt) =>
          attempt.then(
            () => null,
            (error) => error,
          ),
      ),
    )
    expect(errors.map(isLostDatabase)).toEqual([true, true, true])
  })

  test.each(['57P01', '57P03', '53300', '08006', '25006', 'ECONNRESET', 'P1001'])('is known by code %s', (code) => {
    expect(isLostDatabase(Object.assign(new Error('x'), { code }))).toBe(true)
  })

  test.each(['23505', '22P02', '42P01', 'ENOENT'])('is not what code %s means', (code) => {
    const error = Object.assign(new Error('x'), { code })
    expect([isLostDatabase(error), isSetBack(error)]).toEqual([false, false])
  })
})

test('a deadlock or a time limit can simply be tried again', () => {
  for (const code of ['40P01', '40001', '55P03', '57014'])
    expect(isSetBack(Object.assign(new Error('x'), { code }))).toBe(true)
})

test('a search that takes too long is given up and says what to narrow', async () => {
  const agent = await api.agent()
  await agent.post('/api/v1/todos', { queue: 'slow', title: 'A' })
  const lock = await api.session()
  await lock.query('BEGIN')
  await lock.query('LOCK TABLE todos IN ACCESS EXCLUSIVE MODE')
  const { status, body } = await agent.get('/api/v1/todos?q=a')
  await lock.query('ROLLBACK')
  expect({ status, code: body.code }).toEqual({ status: 422, code: 'validation_failed' })
  expect(body).toMatchObject({ detail: 'The search was given up after 3 s', errors: [{ pointer: '?q' }] })
})
