import { expect, test } from 'vitest'
import { answer, resume } from '#lib/queue/answer'
import { cancel } from '#lib/queue/cancel'
import { claimById } from '#lib/queue/claim'
import { complete, completeMany } from '#lib/queue/complete'
import { enqueue } from '#lib/queue/enqueue'
import { expireDeadlines, expireInterrupts, expireLeases } from '#lib/queue/expire'
import { expireEndpoints } from '#lib/queue/expire-endpoints'
import { heartbeatMany } from '#lib/queue/heartbeat'
import { requeue } from '#lib/queue/requeue'
import { revokeEndpoint } from '#lib/queue/revoke'
import type { EndpointCaller } from '#lib/wire/caller'
import type { Todo } from '#lib/wire/todo'
import { registered } from '../support/callers'
import { backdate } from '../support/clock'
import { database } from '../support/database'
import { child, type Given, given, now, OPERATOR, WORKER } from '../support/given'
import { keepsInvariants } from '../support/invariants'
import { times } from '../support/numbers'
import { codeOf } from '../support/refusal'
import { DAY, PLAIN_REPLY } from '../support/verbs'

const { db, sql } = database({ max: 20 })
keepsInvariants(db)

let named = 0

async function rounds(round: (worker: EndpointCaller, n: number) => Promise<void>): Promise<void> {
  for (let n = 0; n < times(25, 500); n++) await round(await registered(db, `agent-${++named}`), n)
}

/** The revocation and somebody else at once, begun in either order; a deadlock would throw. */
async function against<Other>(worker: EndpointCaller, n: number, other: () => Promise<Other>): Promise<Other> {
  if (n % 2) return (await Promise.all([revokeEndpoint(db, worker.name), other()]))[1]
  return (await Promise.all([other(), revokeEndpoint(db, worker.name)]))[0]
}

const isTheirs = ({ owner_endpoint_id }: Todo, { id }: EndpointCaller): boolean => owner_endpoint_id === id

const outcomes = async (id: string) =>
  (await sql<{ outcome: string }>`SELECT outcome FROM todo_attempts WHERE todo_id = ${id} ORDER BY seq`).map(
    ({ outcome }) => outcome,
  )

test('against a completion: it is completed, or back in the queue', () =>
  rounds(async (worker, n) => {
    const { id, held } = await given(db, 'claimed', { worker })
    const code = await against(worker, n, () => codeOf(complete(db, held, worker, 'done')))
    expect([null, 'lease_lost']).toContain(code)
    expect((await now(db, id)).state).toBe(code === null ? 'completed' : 'pending')
    expect(await outcomes(id)).toEqual([code === null ? 'completed' : 'revoked'])
  }))

test('against a sweep of its lapsed lease: taken back once, and counted only if the sweep did it', () =>
  rounds(async (worker, n) => {
    const { id } = await given(db, 'claimed', { worker, ago: { lease_expires_at: 1 } })
    await against(worker, n, () => expireLeases(db))
    const { state, lease_expirations } = await now(db, id)
    expect(state).toBe('pending')
    expect(await outcomes(id)).toEqual([lease_expirations === 1 ? 'reaped' : 'revoked'])
  }))

test('against a sweep of its unanswered question: parked or taken back, with one end of its clock', () =>
  rounds(async (worker, n) => {
    const { id, interruptId } = await given(db, 'input-required', { worker, ago: { interrupted_at: DAY + 1 } })
    await against(worker, n, () => expireInterrupts(db, { ttlSeconds: DAY }))
    const { state, lease_expirations } = await now(db, id)
    const [question] = await sql`SELECT status, mode FROM interrupts WHERE id = ${interruptId}`
    if (lease_expirations === 1) expect([state, question]).toEqual(['pending', { status: 'expired', mode: 'hold' }])
    else expect([state, question]).toEqual(['input-required', { status: 'open', mode: 'park' }])
  }))

test('against an answer: it is stored, and the work goes on without the endpoint', () =>
  rounds(async (worker, n) => {
    const asked = await given(db, 'input-required', { worker })
    expect(await against(worker, n, () => codeOf(answer(db, asked.interruptId, OPERATOR, PLAIN_REPLY)))).toBeNull()
    await expireEndpoints(db)
    const todo = await now(db, asked.id)
    expect(todo).toMatchObject({ state: 'pending', owner: null, lease_expirations: 0 })
    expect(['continued', 'revoked']).toContain((await outcomes(asked.id))[0])
  }))

test('against a resume: the question is resolved or stays open, never lost', () =>
  rounds(async (worker, n) => {
    const { id, held, interruptId } = await given(db, 'input-required', { worker })
    const code = await against(worker, n, () => codeOf(resume(db, held, worker, { interruptId, ...PLAIN_REPLY })))
    await expireEndpoints(db)
    const [question] = await sql<{ status: string }>`SELECT status FROM interrupts WHERE id = ${interruptId}`
    expect([null, 'lease_lost']).toContain(code)
    expect(question?.status).toBe(code === null ? 'resolved' : 'open')
    expect((await now(db, id)).state).toBe(code === null ? 'pending' : 'input-required')
  }))

test('against its claims: whatever slips past is taken back by the next sweep, and what is assigned to it is failed', () =>
  rounds(async (worker, n) => {
    const free = await given(db, 'pending')
    const own = await given(db, 'pending', { todo: { assignee: worker.name } })
    await against(worker, n, () =>
      Promise.all([codeOf(claimById(db, free.id, {}, worker)), codeOf(claimById(db, own.id, {}, worker))]),
    )
    await expireEndpoints(db)
    expect(await now(db, free.id)).toMatchObject({ state: 'pending', lease_expirations: 0 })
    expect(await now(db, own.id)).toMatchObject({ state: 'failed', error: { code: 'endpoint_revoked' } })
  }))

test('against another revocation of it, and the sweep: each todo is moved once', () =>
  rounds(async (worker, n) => {
    const all = [
      await given(db, 'claimed', { worker }),
      await given(db, 'input-required', { worker }),
      await given(db, 'waiting', { worker, todo: { assignee: worker.name } }),
    ]
    if (n % 3 === 0) await sql`UPDATE endpoints SET expires_at = now() WHERE id = ${worker.id}`
    await against(worker, n, () => Promise.all([revokeEndpoint(db, worker.name), expireEndpoints(db)]))
    for (const { id } of all) {
      const told = await sql`SELECT 1 FROM todo_events WHERE todo_id = ${id} AND reason = 'endpoint_revoked'`
      expect(told).toHaveLength(1)
      expect(isTheirs(await now(db, id), worker)).toBe(false)
    }
  }))

test('against who assigns to it: refused, or failed with the others', () =>
  rounds(async (worker, n) => {
    const ended = await given(db, 'canceled', { todo: { assignee: worker.name } })
    await against(worker, n, () =>
      Promise.all([
        codeOf(enqueue(db, [{ queue: 'main', title: 'For it', assignee: worker.name }], OPERATOR)),
        codeOf(requeue(db, ended.id, OPERATOR)),
      ]),
    )
    const live = await sql`SELECT 1 FROM todos WHERE assignee_endpoint_id = ${worker.id} AND completed_at IS NULL`
    expect(live).toEqual([])
  }))

/** A family of three levels, whose ends are the endpoint's. */
async function family(worker: EndpointCaller): Promise<{ top: Given; middle: Todo; bottom: Todo }> {
  const top = await given(db, 'claimed', { worker, todo: { assignee: worker.name } })
  const middle = await child(db, top.held, worker)
  const claimed = await claimById(db, middle.id, {}, WORKER)
  const held = { id: middle.id, leaseEpoch: claimed.lease_epoch, endpointId: WORKER.id }
  const bottom = await child(db, held, WORKER, { assignee: worker.name })
  return { top, middle, bottom }
}

test('of whole families, against their members’ ends and beats over several of them: no deadlock, nothing counted twice', () =>
  rounds(async (worker, n) => {
    const [one, two] = [await family(worker), await family(worker)]
    await backdate(db, n % 3 ? one.bottom.id : two.middle.id, { deadline_at: 1 })
    const members = [one.middle.id, two.middle.id, one.bottom.id, two.bottom.id]
    const leases = members.map((id) => ({ id, leaseEpoch: 1, endpointId: WORKER.id }))
    await against(worker, n, () =>
      Promise.all([
        heartbeatMany(db, leases, WORKER),
        completeMany(db, [{ ...(leases[1] as (typeof leases)[number]), result: null }], WORKER),
        codeOf(cancel(db, n % 2 ? two.bottom.id : one.middle.id, OPERATOR)),
        expireDeadlines(db),
      ]),
    )
    const live =
      await sql`SELECT id FROM todos WHERE completed_at IS NULL AND id = ANY(${[...members, one.top.id, two.top.id]})`
    expect(live).toEqual([])
  }))
