import { expect, test } from 'vitest'
import { expireLeases } from '#lib/queue/expire'
import { door, PATIENT } from '../api/door'
import { backdate } from '../support/clock'
import { processes } from './processes'
import { staff } from './staff'

const api = door()
const { client } = staff(api)
const start = processes()

/** A todo whose worker was killed between doing an effect and saying so; its lease has been taken back, and another works. */
async function crashed(kind: 'idempotent' | 'once') {
  const every = await client()
  const { todo } = await every.enqueue({ queue: 'doubt', title: 'Sends', kind })
  const { token } = await api.agent(['work'])
  const first = start('doubt', { url: api.url, token })
  await first.hears('runs')
  expect((await every.getTodo({ id: todo.id })).effects).toMatchObject([{ status: 'begun', lease_epoch: 1 }])
  await first.end('SIGKILL')
  await backdate(api.db, todo.id, { lease_expires_at: 1 })
  expect(await expireLeases(api.db)).toHaveLength(1)
  await backdate(api.db, todo.id, { available_at: 1 })
  const second = start('doubt', { url: api.url, token })
  const state = async () => (await every.getTodo({ id: todo.id })).todo.state
  return { every, id: todo.id, second, state }
}

test('killed in between, what may be done twice is done again without asking anybody', async () => {
  const { every, id, second, state } = await crashed('idempotent')
  await second.hears('runs')
  await expect.poll(state, PATIENT).toBe('completed')
  const { todo, effects, interrupts } = await every.getTodo({ id })
  expect(todo).toMatchObject({ attempts: 2, lease_expirations: 1, failures: 0, result: 2 })
  expect(effects).toMatchObject([{ status: 'confirmed', lease_epoch: 2 }])
  expect(interrupts).toEqual([])
})

test.each([
  ['it happened', { content: { happened: true } }, { state: 'completed', result: null }, 0],
  ['it did not happen', { content: { happened: false } }, { state: 'completed', result: 3 }, 1],
  ['nobody knows', { action: 'decline' }, { state: 'failed', error: { code: 'effect_uncertain' } }, 0],
] as const)(
  'killed in between, what must not be done twice waits for a person: %s',
  async (_, said, outcome, again) => {
    const { every, id, second, state } = await crashed('once')
    await expect.poll(state, PATIENT).toBe('input-required')
    const { todo: asked, interrupts } = await every.getTodo({ id })
    expect(asked.owner).toBeNull()
    expect(interrupts).toMatchObject([{ mode: 'park', effect_key: 'send', risk: 'high', kind: 'input' }])
    expect(interrupts[0]?.title).toBe('Did it happen: send?')
    expect(interrupts[0]?.message).toMatch(/^Sends the letter\n\nAttempt 1 began it at \d{4}-/)
    expect(second.said).toEqual([])
    await every.answerInterrupt({ id: asked.open_interrupt_id ?? '', ...said, comment: 'I looked in the outbox' })
    await expect.poll(state, PATIENT).toBe(outcome.state)
    const { todo } = await every.getTodo({ id })
    expect(todo).toMatchObject({ ...outcome, attempts: 3, lease_expirations: 1 })
    expect(second.said.filter((line) => line === 'runs')).toHaveLength(again)
  },
)
