import { beforeEach, describe, expect, test } from 'vitest'
import type { Db } from '#lib/db/connect'
import { cancel } from '#lib/queue/cancel'
import { enqueue } from '#lib/queue/enqueue'
import { forgetTodos, laterBound } from '#lib/queue/retention'
import { createRounds } from '#worker/retention'
import { OPERATOR } from '../support/given'
import { recordedLog } from '../support/recorded-log'
import { titles, watchers } from './stream-watchers'

const { db, sql, token, open, make } = watchers()

const { log } = recordedLog()

const deletesEnded = () => createRounds(db, { log, signal: new AbortController().signal, forgot: () => {} })()

/** Makes a todo and ends it, so many days ago. */
async function ended(title: string, daysAgo: number): Promise<string> {
  const id = await make(title)
  await cancel(db, id, OPERATOR)
  await sql`UPDATE todos SET completed_at = now() - make_interval(days => ${daysAgo}) WHERE id = ${id}`
  return id
}

const enqueuedBy = async (on: Db): Promise<string> =>
  (await enqueue(on, [{ queue: 'main', title: 'Never told' }], OPERATOR))[0]?.todo.id as string

beforeEach(() => sql`TRUNCATE settings`)

describe('after ended todos were deleted', () => {
  test('a client whose place lies before one of their events gets exactly one resync, then what happens', async () => {
    const headers = await token()
    const client = await open(headers)
    await make('Seen')
    await expect.poll(() => titles(client)).toEqual(['Seen'])
    const before = client.cursor as string
    await ended('Old', 31)
    await make('Newer')
    await expect.poll(() => titles(client)).toEqual(['Seen', 'Old', 'Old', 'Newer'])
    const after = client.cursor as string
    client.close()
    expect(await deletesEnded()).toMatchObject({ todos: 1 })

    const late = await open({ ...headers, 'last-event-id': before })
    await expect.poll(() => late.named('resync')).toHaveLength(1)
    const near = await open({ ...headers, 'last-event-id': after })
    await make('Live')
    await expect.poll(() => titles(late)).toEqual(['Live'])
    await expect.poll(() => titles(near)).toEqual(['Live'])
    expect(late.named('resync')).toHaveLength(1)
    expect(near.named('resync')).toEqual([])

    const again = await open({ ...headers, 'last-event-id': late.cursor as string })
    await make('Later')
    await expect.poll(() => titles(again)).toEqual(['Later'])
    expect(again.named('resync')).toEqual([])
  })

  test('a client that had been told all of it hears no resync when it comes back, though its last event is gone', async () => {
    const headers = await token()
    const client = await open(headers)
    await ended('Last', 31)
    await expect.poll(() => titles(client)).toEqual(['Last', 'Last'])
    const { cursor } = client
    client.close()
    await deletesEnded()
    const again = await open({ ...headers, 'last-event-id': cursor as string })
    await make('Next')
    await expect.poll(() => titles(again)).toEqual(['Next'])
    expect(again.named('resync')).toEqual([])
  })

  test('a client that is there gets one resync where some were deleted before anybody told it', async () => {
    const client = await open(await token())
    await make('First')
    await expect.poll(() => titles(client)).toEqual(['First'])
    // In one transaction no reader of the log gets to see them.
    await db.transaction(async (tx) => {
      const id = await enqueuedBy(tx)
      await cancel(tx, id, OPERATOR)
      await tx.query({ text: `UPDATE todos SET completed_at = now() - interval '31 days' WHERE id = $1`, values: [id] })
      const bound = await laterBound(tx, 30, null)
      if (bound) await forgetTodos(tx, bound)
    })
    await expect.poll(() => client.named('resync').length).toBe(1)
    await make('Second')
    await expect.poll(() => titles(client)).toEqual(['First', 'Second'])
    await make('Third')
    await expect.poll(() => titles(client)).toEqual(['First', 'Second', 'Third'])
    expect(client.named('resync')).toHaveLength(1)
  })
})
