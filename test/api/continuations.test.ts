import { beforeAll, describe, expect, test } from 'vitest'
import { argumentsHash } from '#lib/wire/arguments-hash'
import type { Role, Scope } from '#lib/wire/caller'
import { type Human, signedIn } from '../support/people'
import { type Agent, door, type Reply } from './door'

const api = door()

let queues = 0
let agent: Agent
let operator: Human

beforeAll(async () => {
  agent = await api.agent(['enqueue', 'work', 'read'])
  operator = await signedIn(api.db, api.url, 'operator')
})

/** A todo that this agent has claimed, and how to call about it under that lease. */
async function claimed(by = agent) {
  queues += 1
  const queue = `continued-${queues}`
  const made = await api.agent(['enqueue'])
  await made.post('/api/v1/todos', { queue, title: 'Work' })
  return claimNext(queue, by)
}

async function claimNext(queue: string, by = agent) {
  const { body } = await by.post('/api/v1/todos/claim', { queues: [queue] })
  const [todo] = body.todos
  const path = `/api/v1/todos/${todo.id}`
  const post = (verb: string, json: object = {}, as = by): Promise<Reply> =>
    as.post(`${path}/${verb}`, { lease_epoch: todo.lease_epoch, ...json })
  return { todo, path, post, queue }
}

/** What a person sends from a page of this site. */
const sends = (human: Human, path: string, json: object = {}) =>
  human.send('POST', path, { json, headers: { origin: api.url } })

const answer = (human: Human, id: string, json: object = {}) => sends(human, `/api/v1/interrupts/${id}/answer`, json)

const pointers = ({ status, body }: Reply) => ({
  status,
  at: body.errors?.map(({ pointer }: { pointer: string }) => pointer),
})

describe('a parked question', () => {
  test('is asked in one call, answered by a person, and goes on with whoever claims it', async () => {
    const { post, queue, todo } = await claimed()
    const ask = { title: 'Which?', mode: 'park', checkpoint: { page: 7 }, request_id: 'q1' }
    const asked = await post('interrupt', ask)
    expect(asked).toMatchObject({
      status: 201,
      body: {
        todo: { state: 'input-required', owner: null, lease_expires_at: null, checkpoint: { page: 7 } },
        interrupt: { mode: 'park', status: 'open', request_id: 'q1' },
      },
    })
    expect(await post('interrupt', ask)).toMatchObject({ status: 200, body: asked.body })
    expect(await post('heartbeat')).toMatchObject({
      status: 409,
      body: { code: 'lease_lost', state: 'input-required' },
    })
    const answered = await answer(operator, asked.body.interrupt.id, { content: { answer: 'this' } })
    expect(answered).toMatchObject({ status: 200, body: { todo: { state: 'pending' }, interrupt: { channel: 'web' } } })
    const next = await claimNext(queue, await api.agent(['work']))
    expect(next.todo).toMatchObject({
      id: todo.id,
      lease_epoch: 2,
      checkpoint: { page: 7 },
      interrupts: [{ content: { answer: 'this' } }],
      prior_attempts: [{ outcome: 'continued' }],
    })
  })

  test('that is held is parked by its holder, with the same answer when it repeats itself', async () => {
    const { post } = await claimed()
    const { body } = await post('interrupt', { title: 'Which?' })
    const parked = await post('park', { checkpoint: [1] })
    expect(parked).toMatchObject({
      status: 200,
      body: { todo: { owner: null, checkpoint: [1] }, interrupt: { id: body.interrupt.id, mode: 'park' } },
    })
    expect(await post('park')).toMatchObject({ status: 200, body: parked.body })
    expect(await post('park', { lease_epoch: 9 })).toMatchObject({ status: 409, body: { code: 'lease_lost' } })
  })

  test('with nothing to park is refused with the state it is in', async () => {
    const { post } = await claimed()
    expect(await post('park')).toMatchObject({ status: 409, body: { code: 'invalid_state', state: 'claimed' } })
    await post('complete')
    expect(await post('park')).toMatchObject({ status: 409, body: { code: 'todo_terminal', state: 'completed' } })
  })

  const MAY: [string, Role | Scope[], number][] = [
    ['a viewer', 'viewer', 403],
    ['a responder', 'responder', 403],
    ['an operator', 'operator', 200],
    ['an endpoint that operates', ['operate'], 200],
    ['an endpoint that works and forgot its epoch', ['work'], 422],
    ['an endpoint that answers', ['answer', 'read', 'enqueue'], 403],
  ]

  test.each(MAY)('is let go of for its holder by who may: %s', async (_, who, status) => {
    const { post, path } = await claimed()
    await post('interrupt', { title: 'Which?' })
    const reply =
      typeof who === 'string'
        ? await sends(await signedIn(api.db, api.url, who), `${path}/park`)
        : await (await api.agent(who)).post(`${path}/park`, {})
    expect(reply.status).toBe(status)
    const { body } = await agent.get(path)
    expect(body.todo.owner === null).toBe(status === 200)
  })

  test('is not parked by somebody else who brings an epoch', async () => {
    const { post, path } = await claimed()
    await post('interrupt', { title: 'Which?' })
    expect((await post('park', {}, await api.agent(['work']))).body.code).toBe('lease_lost')
    expect((await post('park', {}, await api.agent(['operate']))).status).toBe(403)
    expect((await sends(operator, `${path}/park`, { lease_epoch: 1 })).status).toBe(403)
  })

  test('said wrongly is refused where it is wrong', async () => {
    const { post, path } = await claimed()
    const wrong = async (json: object) => pointers(await post('interrupt', { title: 'Which?', ...json }))
    expect(await wrong({ checkpoint: 1 })).toEqual({ status: 422, at: ['/checkpoint'] })
    expect(await wrong({ mode: 'sit' })).toEqual({ status: 422, at: ['/mode'] })
    expect(await wrong({ kind: 'approval' })).toEqual({ status: 422, at: ['/proposal'] })
    expect(await wrong({ proposal: { action: 'pay' } })).toEqual({ status: 422, at: ['/proposal'] })
    expect(await wrong({ kind: 'approval', proposal: { arguments: 1 } })).toEqual({
      status: 422,
      at: ['/proposal/action'],
    })
    expect(await wrong({ effect_key: 'pay' })).toEqual({ status: 422, at: ['/schema'] })
    const happened = { type: 'object', properties: { happened: { type: 'boolean' } } }
    expect(await wrong({ effect_key: 'pay', schema: happened })).toEqual({ status: 422, at: ['/effect_key'] })
    expect(await wrong({ effect_key: '', schema: happened })).toEqual({ status: 422, at: ['/effect_key'] })
    expect(pointers(await sends(operator, `${path}/park`, { checkpoint: 1 }))).toEqual({
      status: 422,
      at: ['/checkpoint'],
    })
    expect(pointers(await post('park', { lease_epoch: 'one' }))).toEqual({ status: 422, at: ['/lease_epoch'] })
    expect((await agent.get(path)).body.todo.state).toBe('claimed')
  })
})

describe('an effect', () => {
  test('is declared, done and confirmed; from then on it is answered with its outcome', async () => {
    const { post, path } = await claimed()
    const declared = { key: 'pay', idempotent: false, request_id: 'r1', description: 'Pay the rent' }
    const begun = await post('effects', declared)
    expect(begun).toMatchObject({ status: 201, body: { effect: { key: 'pay', status: 'begun', lease_epoch: 1 } } })
    expect(await post('effects', declared)).toMatchObject({ status: 200, body: begun.body })
    expect(await post('effects', { ...declared, request_id: 'r2' })).toMatchObject({
      status: 409,
      body: { code: 'effect_uncertain', state: 'claimed', effect_id: begun.body.effect.id },
    })
    const confirmed = await post('effects/pay', { status: 'confirmed', result: { receipt: 7 } })
    expect(confirmed).toMatchObject({ status: 200, body: { effect: { status: 'confirmed', result: { receipt: 7 } } } })
    expect(await post('effects/pay', { status: 'confirmed' })).toMatchObject({ status: 200, body: confirmed.body })
    expect(await post('effects', declared)).toMatchObject({ status: 200, body: confirmed.body })
    expect((await agent.get(path)).body.effects).toEqual([confirmed.body.effect])
  })

  test.each(['mail/7', 'a b', 'ä?&#%+', '100%', '%2F', 'effects/../..', ' ', 'x'.repeat(200)])(
    'has its key in its address, percent-encoded: %j',
    async (key) => {
      const { post } = await claimed()
      expect((await post('effects', { key, idempotent: true })).status).toBe(201)
      const ended = await post(`effects/${encodeURIComponent(key)}`, { status: 'failed' })
      expect(ended).toMatchObject({ status: 200, body: { effect: { key, status: 'failed' } } })
    },
  )

  test('has no key that no address can hold', async () => {
    const { post } = await claimed()
    for (const key of ['.', '..', '', 'x'.repeat(201)]) {
      expect(pointers(await post('effects', { key, idempotent: true }))).toEqual({ status: 422, at: ['/key'] })
    }
    expect((await post('effects/mail/7', { status: 'failed' })).status).toBe(404)
    expect((await post('effects/never', { status: 'failed' })).status).toBe(404)
  })

  test('said wrongly is refused where it is wrong', async () => {
    const { post, path } = await claimed()
    const begins = async (json: object) => pointers(await post('effects', { key: 'pay', idempotent: true, ...json }))
    expect(await begins({ idempotent: 'yes' })).toEqual({ status: 422, at: ['/idempotent'] })
    expect(await begins({ arguments_hash: 'A'.repeat(64) })).toEqual({ status: 422, at: ['/arguments_hash'] })
    expect(await begins({ interrupt_id: 'x' })).toEqual({ status: 422, at: ['/interrupt_id'] })
    expect(await begins({ status: 'begun' })).toEqual({ status: 422, at: ['/status'] })
    await post('effects', { key: 'pay', idempotent: false })
    const ends = async (json: object) => pointers(await agent.post(`${path}/effects/pay`, json))
    expect(await ends({ status: 'confirmed' })).toEqual({ status: 422, at: ['/lease_epoch'] })
    expect(await ends({ status: 'done', lease_epoch: 1 })).toEqual({ status: 422, at: ['/status'] })
    expect(await ends({ status: 'failed', lease_epoch: 1, comment: 'x' })).toEqual({ status: 422, at: ['/comment'] })
    const says = async (json: object) => pointers(await sends(operator, `${path}/effects/pay`, json))
    expect(await says({ status: 'happened' })).toEqual({ status: 422, at: ['/comment'] })
    expect(await says({ status: 'happened', comment: '' })).toEqual({ status: 422, at: ['/comment'] })
    expect(await says({ status: 'happened', comment: 'x', result: 1 })).toEqual({ status: 422, at: ['/result'] })
    expect((await agent.get(path)).body.effects).toMatchObject([{ status: 'begun' }])
  })

  const SETTLES: [string, Role | Scope[], number][] = [
    ['a viewer', 'viewer', 403],
    ['a responder', 'responder', 403],
    ['an operator', 'operator', 200],
    ['an admin', 'admin', 200],
    ['an endpoint that works', ['work'], 403],
    ['an endpoint that operates and answers', ['operate', 'answer'], 403],
  ]

  test.each(SETTLES)('in doubt is settled by who may: %s', async (_, who, status) => {
    const { post, path } = await claimed()
    await post('effects', { key: 'pay', idempotent: false })
    const finding = { status: 'happened', comment: 'The bank shows it' }
    const reply =
      typeof who === 'string'
        ? await sends(await signedIn(api.db, api.url, who), `${path}/effects/pay`, finding)
        : await (await api.agent(who)).post(`${path}/effects/pay`, finding)
    expect(reply.status).toBe(status)
    const [effect] = (await agent.get(path)).body.effects
    expect(effect.status).toBe(status === 200 ? 'confirmed' : 'begun')
  })

  test('is neither begun nor reported by a person, nor by an endpoint without the scope', async () => {
    const { post, path } = await claimed()
    const begin = { lease_epoch: 1, key: 'pay', idempotent: true }
    expect((await sends(operator, `${path}/effects`, begin)).status).toBe(403)
    expect((await post('effects', begin, await api.agent(['operate', 'answer', 'enqueue', 'read']))).status).toBe(403)
    await post('effects', begin)
    const report = { lease_epoch: 1, status: 'confirmed' }
    expect((await sends(operator, `${path}/effects/pay`, report)).status).toBe(403)
    expect((await post('effects/pay', report, await api.agent(['operate']))).status).toBe(403)
  })

  test('of a todo outside the endpoint’s queues is not there', async () => {
    const { post } = await claimed()
    await post('effects', { key: 'pay', idempotent: true })
    const elsewhere = await api.agent(['work', 'operate'], { queues: ['elsewhere'] })
    for (const [verb, json] of [
      ['effects', { key: 'pay', idempotent: true }],
      ['effects/pay', { status: 'failed' }],
      ['park', {}],
    ] as const) {
      expect((await post(verb, json, elsewhere)).status).toBe(404)
    }
  })
})

describe('an approval', () => {
  const RENT = { to: 'the landlord', amount: 500 }

  test('asked, given by a person, covers the effect as it was proposed', async () => {
    const { post, queue } = await claimed()
    const proposal = { action: 'pay', arguments: RENT }
    const asked = await post('interrupt', { kind: 'approval', mode: 'park', title: 'May I?', risk: 'high', proposal })
    const { id, proposal: shown } = asked.body.interrupt
    expect(shown).toEqual({ ...proposal, arguments_hash: await argumentsHash(RENT) })
    expect(await answer(operator, id)).toMatchObject({ status: 200, body: { todo: { state: 'pending' } } })
    const next = await claimNext(queue)
    const declared = { key: 'pay', idempotent: false, interrupt_id: id, arguments_hash: shown.arguments_hash }
    const other = { ...declared, arguments_hash: await argumentsHash({ ...RENT, amount: 501 }) }
    expect(await next.post('effects', other)).toMatchObject({
      status: 409,
      body: { code: 'approval_mismatch', state: 'claimed', detail: 'Other arguments were approved' },
    })
    expect((await next.post('effects', declared)).status).toBe(201)
    expect(await next.post('effects', { ...declared, key: 'again' })).toMatchObject({
      status: 409,
      body: { code: 'approval_mismatch' },
    })
  })

  test('is not given by the endpoint that asks, whatever its scopes', async () => {
    const almighty = await api.agent()
    const { post } = await claimed(almighty)
    const { body } = await post('interrupt', { kind: 'approval', title: 'May I?', proposal: { action: 'pay' } })
    const { id } = body.interrupt
    const own = await almighty.post(`/api/v1/interrupts/${id}/answer`, {})
    expect(own).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect((await post('resume', { interrupt_id: id })).status).toBe(403)
    expect((await answer(operator, id, { content: { answer: 'yes' } })).status).toBe(422)
    expect((await answer(operator, id)).status).toBe(200)
    expect((await answer(operator, id)).status).toBe(200)
    expect(await answer(operator, id, { action: 'decline' })).toMatchObject({
      status: 409,
      body: { code: 'already_answered' },
    })
  })

  test('whether it happened is not said by the endpoint that asks either', async () => {
    const almighty = await api.agent()
    const { post, path } = await claimed(almighty)
    await post('effects', { key: 'pay', idempotent: false })
    const schema = { type: 'object', properties: { happened: { type: 'boolean' } }, required: ['happened'] }
    const { body } = await post('interrupt', { title: 'Did it happen?', mode: 'park', effect_key: 'pay', schema })
    const { id } = body.interrupt
    const content = { happened: true }
    expect((await almighty.post(`/api/v1/interrupts/${id}/answer`, { content })).status).toBe(403)
    expect(await answer(operator, id, { content, comment: 'Seen' })).toMatchObject({ status: 200 })
    expect((await almighty.get(path)).body.effects).toMatchObject([
      { status: 'confirmed', settled_by: `user:${operator.person.id}`, comment: 'Seen' },
    ])
  })
})
