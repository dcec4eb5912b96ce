import { beforeEach, expect, test } from 'vitest'
import { given } from '../support/given'
import { type Agent, door } from './door'

const api = door()

const HOUR = 3600
const DAY = 24 * HOUR

let queues = 0
let queue = ''

beforeEach(async () => {
  queues += 1
  queue = `queue-${queues}`
  await api.sql`DELETE FROM settings`
})

const asked = async (secondsAgo: number, more: object = {}) =>
  (await given(api.db, 'input-required', { todo: { queue }, ago: { interrupted_at: secondsAgo }, ...more })).interruptId

/** All pages of a list, as the ids they hold. */
async function pages(agent: Agent, query: string): Promise<string[]> {
  const ids: string[] = []
  let next = ''
  for (let page = 0; page < 20; page++) {
    const { body } = await agent.get(`/api/v1/interrupts?queue=${queue}&${query}${next}`)
    ids.push(...body.interrupts.map(({ id }: { id: string }) => id))
    if (body.next_cursor === null) return ids
    next = `&cursor=${body.next_cursor}`
  }
  throw new Error('The pages never ended')
}

test('open questions come soonest deadline first, each with its deadline and its todo', async () => {
  const agent = await api.agent()
  const young = await asked(HOUR)
  const old = await asked(20 * HOUR)
  const given = await asked(23 * HOUR)
  await api.sql`UPDATE todos SET wait_until = now() + interval '3 days' WHERE open_interrupt_id = ${given}`
  const { body } = await agent.get(`/api/v1/interrupts?queue=${queue}`)
  expect(body.interrupts.map(({ id }: { id: string }) => id)).toEqual([old, young, given])
  const [first, , last] = body.interrupts
  expect(first).toMatchObject({
    status: 'open',
    title: 'Which one?',
    todo: { queue, state: 'input-required', open_interrupt_id: old },
  })
  expect('payload' in first.todo).toBe(false)
  expect(Date.parse(first.expires_at)).toBe(Date.parse(first.todo.interrupted_at) + DAY * 1000)
  expect(last.expires_at).toBe(last.todo.wait_until)
})

test('pages follow each other without a gap or a repeat, equal deadlines too, and those without one come last', async () => {
  const agent = await api.agent()
  for (let at = 0; at < 4; at++) await asked(HOUR)
  await api.sql`UPDATE todos SET interrupted_at = now() - interval '1 hour' WHERE queue = ${queue}`
  const parked = [await asked(2 * HOUR), await asked(3 * HOUR)]
  await api.db.query({
    text: `UPDATE todos SET owner = NULL, owner_endpoint_id = NULL, lease_expires_at = NULL WHERE open_interrupt_id = ANY($1)`,
    values: [parked],
  })
  await asked(5 * HOUR)
  for (const limit of [1, 2, 3]) {
    const ids = await pages(agent, `limit=${limit}`)
    expect(new Set(ids).size).toBe(7)
    expect(ids.slice(-2)).toEqual(parked)
  }
  const { body } = await agent.get(`/api/v1/interrupts/${parked[0]}`)
  expect(body.interrupt.expires_at).toBeNull()
})

test('a change of the setting between two pages neither hides nor repeats a question', async () => {
  const agent = await api.agent()
  const expected = [await asked(4 * HOUR), await asked(3 * HOUR), await asked(2 * HOUR)]
  await api.sql`UPDATE todos SET wait_until = now() + interval '23 hours' WHERE open_interrupt_id = ${expected[2]}`
  const first = (await agent.get(`/api/v1/interrupts?queue=${queue}&limit=1`)).body
  await api.sql`INSERT INTO settings (key, value) VALUES ('interrupt_lease_ttl_seconds', '60')`
  const rest = (await agent.get(`/api/v1/interrupts?queue=${queue}&cursor=${first.next_cursor}`)).body
  const ids = [...first.interrupts, ...rest.interrupts].map(({ id }: { id: string }) => id)
  expect(ids).toEqual(expected)
  expect(Date.parse(rest.interrupts[0].expires_at) - Date.parse(rest.interrupts[0].todo.interrupted_at)).toBe(60_000)
})

test('without a deadline in force none is shown', async () => {
  const agent = await api.agent()
  await asked(2 * HOUR)
  await asked(3 * HOUR)
  await api.sql`INSERT INTO settings (key, value) VALUES ('interrupt_lease_ttl_seconds', '0')`
  const { body } = await agent.get(`/api/v1/interrupts?queue=${queue}`)
  expect(body.interrupts.map(({ expires_at }: { expires_at: null }) => expires_at)).toEqual([null, null])
  expect(await pages(agent, 'limit=1')).toHaveLength(2)
})

test('every filter holds, and closed questions come newest first', async () => {
  const agent = await api.agent()
  const urgent = await asked(HOUR, { question: { title: 'Pay 50% now?', message: 'It is urgent', risk: 'critical' } })
  const login = (await given(api.db, 'auth-required', { todo: { queue } })).interruptId
  expect(await pages(agent, 'risk=critical')).toEqual([urgent])
  expect(await pages(agent, 'kind=auth')).toEqual([login])
  expect(await pages(agent, 'q=50%25')).toEqual([urgent])
  expect(await pages(agent, 'q=URGENT')).toEqual([urgent])
  expect(await pages(agent, 'q=50_')).toEqual([])
  const closed: string[] = []
  for (let at = 0; at < 3; at++) {
    const id = await asked(HOUR)
    await agent.post(`/api/v1/interrupts/${id}/answer`, { action: 'decline' })
    closed.unshift(id)
  }
  expect(await pages(agent, 'status=answered&limit=1')).toEqual(closed)
  const open = (await agent.get(`/api/v1/interrupts?queue=${queue}&limit=1`)).body.next_cursor
  expect((await agent.get(`/api/v1/interrupts?status=answered&cursor=${open}`)).status).toBe(422)
})
