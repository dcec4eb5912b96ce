import { afterAll, expect, test } from 'vitest'
import { closeCore, openCore } from '#lib/api/core'
import { serve } from '#lib/api/web-server'
import { expireInterrupts, expireLeases } from '#lib/queue/expire'
import { connect } from '#lib/sdk/client'
import type { Handler } from '#lib/sdk/sdk'
import { door } from '../api/door'
import { processes } from './processes'
import { staff } from './staff'

const api = door()
const { client, work } = staff(api)
const start = processes()

const DAY = 86_400

/** Asks so many questions one after the other, then for leave, then sends. */
const handler =
  (questions: number, sent: unknown[]): Handler =>
  async ({ park, approve, effect }) => {
    const said: string[] = []
    for (let number = 1; number <= questions; number++) {
      const answer = await park<{ answer: string }>({ title: `Question ${number}?` }, { asked: number })
      said.push(answer.content?.answer ?? '')
    }
    const letter = { text: said.join(' ') }
    const leave = await approve({ action: 'send', arguments: letter, risk: 'low' })
    const options = { idempotent: false, arguments: letter, approval: leave }
    return effect('send', options, () => ({ sent: sent.push(letter), text: letter.text }))
  }

test.each([3, 5])(
  '%i parked questions, an approval and an effect: an attempt for each, and nothing spent',
  async (questions) => {
    const every = await client()
    const queue = `asks-${questions}`
    const { todo } = await every.enqueue({ queue, title: 'Sends a letter' })
    const sent: unknown[] = []
    const { line } = await work({ queues: [queue], leaseSeconds: 30, handler: handler(questions, sent) })
    for (let number = 1; number <= questions + 1; number++) {
      await line.until('/interrupt', number)
      const { todo: asked } = await every.getTodo({ id: todo.id })
      expect(asked).toMatchObject({ state: 'input-required', owner: null, attempts: number })
      // Nothing that waits for a person is anybody's lease to expire.
      expect(await expireLeases(api.db)).toEqual([])
      expect(await expireInterrupts(api.db, { ttlSeconds: DAY })).toEqual([])
      const isLast = number > questions
      await every.answerInterrupt({
        id: asked.open_interrupt_id ?? '',
        ...(isLast ? { comment: 'go ahead' } : { content: { answer: `word-${number}` } }),
      })
    }
    await line.until('/complete', 1)
    const { todo: done, attempts, effects } = await every.getTodo({ id: todo.id })
    const text = Array.from({ length: questions }, (_, index) => `word-${index + 1}`).join(' ')
    expect(done).toMatchObject({
      state: 'completed',
      attempts: questions + 2,
      lease_epoch: questions + 2,
      lease_expirations: 0,
      failures: 0,
      max_attempts: 3,
      result: { sent: 1, text },
    })
    expect(sent).toEqual([{ text }])
    expect(effects).toMatchObject([{ key: 'send', status: 'confirmed', lease_epoch: questions + 2 }])
    expect(attempts.map(({ outcome }) => outcome).sort()).toEqual([
      'completed',
      ...Array.from({ length: questions + 1 }, () => 'continued'),
    ])
    const { events } = await every.listEvents({ id: todo.id, limit: 200 })
    const verbs = events.map(({ verb }) => verb)
    expect(verbs).not.toContain('requeued')
    expect(verbs).not.toContain('failed')
    expect(events.filter(({ actor }) => actor === 'reaper')).toEqual([])
  },
)

const servers = new Set<() => Promise<void>>()
afterAll(async () => {
  for (const stop of servers) await stop()
})

/** A web process's worth of server on the file's database; stopping it lets go of all it has. */
async function server() {
  const core = await openCore(api.databaseUrl)
  const web = await serve({ core, host: '127.0.0.1', port: 0, pages: null, metricsToken: null })
  const stop = async () => {
    servers.delete(stop)
    await core.live.stop()
    await web.stop(1000)
    await closeCore(core)
  }
  servers.add(stop)
  return { url: web.url, stop }
}

test('every process may go between the question and its answer: another worker of another server goes on', async () => {
  const { token } = await api.agent(['work'])
  const { token: ours } = await api.agent()
  const before = await server()
  const asking = connect({ url: before.url, token: ours })
  const { todo } = await asking.enqueue({ queue: 'trip', title: 'Books a trip' })
  const first = start('trip', { url: before.url, token })
  await first.hears('enters with null')
  const { todo: asked } = await asking.getTodo({ id: todo.id, wait_seconds: 20 })
  expect(asked).toMatchObject({ state: 'input-required', owner: null })
  await first.end('SIGKILL')
  await before.stop()

  const after = await server()
  const answering = connect({ url: after.url, token: ours })
  await answering.answerInterrupt({ id: asked.open_interrupt_id ?? '', content: { answer: 'Lisbon' } })
  const second = start('trip', { url: after.url, token })
  await second.hears('enters with {"page":7}')
  const { todo: done } = await answering.getTodo({ id: todo.id, wait_seconds: 20 })
  expect(done).toMatchObject({
    state: 'completed',
    attempts: 2,
    lease_expirations: 0,
    failures: 0,
    result: { answer: 'Lisbon' },
  })
  await after.stop()
})
