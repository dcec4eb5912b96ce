import { expect, test } from 'vitest'
import { given } from '../support/given'
import { door } from './door'

const api = door()

const NOBODY = '00000000-0000-7000-8000-000000000000'

test('many todos are ended by one order, which is followed to its end and told todo by todo', async () => {
  const agent = await api.agent()
  const queue = 'bulk-api'
  const ids = []
  for (const state of ['pending', 'claimed', 'completed'] as const)
    ids.push((await given(api.db, state, { todo: { queue } })).id)
  const ordered = await agent.post('/api/v1/todos/bulk', { action: 'cancel', ids, reason: 'Over' })
  expect(ordered).toMatchObject({ status: 202, body: { bulk_id: expect.any(String), matched: 3 } })
  const { bulk_id } = ordered.body
  expect((await agent.get(`/api/v1/bulk/${bulk_id}`)).body.bulk).toMatchObject({
    id: bulk_id,
    action: 'cancel',
    status: 'running',
    matched: 3,
    done: 0,
    failed: 0,
    ordered_by: `client:${agent.caller.name}`,
  })
  expect((await agent.get('/api/v1/bulk?limit=1')).body.bulks).toMatchObject([{ id: bulk_id }])
  const left = await agent.get(`/api/v1/bulk/${bulk_id}/results?outcome=left&limit=2`)
  expect(left.body.results).toHaveLength(2)
  const rest = await agent.get(`/api/v1/bulk/${bulk_id}/results?outcome=left&cursor=${left.body.next_cursor}`)
  expect([...left.body.results, ...rest.body.results].map(({ todo_id, ok }) => [todo_id, ok])).toEqual(
    [...ids].sort().map((id) => [id, null]),
  )
  const stopped = await agent.post(`/api/v1/bulk/${bulk_id}/cancel`)
  expect(stopped).toMatchObject({ status: 200, body: { bulk: { status: 'canceled' } } })
  expect((await agent.post(`/api/v1/bulk/${NOBODY}/cancel`)).status).toBe(404)
})

test('an order that says too little or too much is refused, each with where', async () => {
  const agent = await api.agent()
  const pointers = async (json: unknown) => {
    const { status, body } = await agent.post('/api/v1/todos/bulk', json)
    return [status, ...(body.errors ?? []).map(({ pointer }: { pointer: string }) => pointer)]
  }
  const ids = [NOBODY]
  expect(await pointers({ action: 'cancel' })).toEqual([422, '/filter'])
  expect(await pointers({ action: 'cancel', ids, filter: { queue: 'a' } })).toEqual([422, '/filter'])
  expect(await pointers({ action: 'cancel', filter: {} })).toEqual([422, '/filter'])
  expect(await pointers({ action: 'cancel', filter: { queu: 'a' } })).toEqual([422, '/filter/queu', '/filter'])
  expect(await pointers({ action: 'delete', ids })).toEqual([422, '/action'])
  expect(await pointers({ action: 'cancel', ids: [] })).toEqual([422, '/ids'])
  expect(await pointers({ action: 'cancel', ids: ['x'] })).toEqual([422, '/ids/0'])
  expect(await pointers({ action: 'cancel', filter: { state: ['gone'] } })).toEqual([422, '/filter/state/0'])
})

test('children of one todo are listed by their parent', async () => {
  const agent = await api.agent()
  const parent = await given(api.db, 'waiting', { worker: agent.caller })
  const { body } = await agent.get(`/api/v1/todos?parent_id=${parent.id}`)
  expect(body.todos).toMatchObject([{ parent_id: parent.id }])
  expect(body.counts.pending.count).toBe(1)
})
