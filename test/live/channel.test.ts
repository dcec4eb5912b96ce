import { describe, expect, test } from 'vitest'
import { batchOf, type View } from '#lib/live/batch'
import { createChannel, MOST_WAITING_FRAMES } from '#lib/live/channel'
import { type Mark, markAt } from '#lib/live/cursor'
import type { Sink } from '#lib/live/sink'
import type { Event } from '#lib/wire/event'

const ALL: View = { key: 'all', sees: () => true, seesSettings: true }
const START: Mark = { last: 0, at: null, holes: [] }

/** A connection that takes what a test lets it take. */
function connection() {
  const written: string[] = []
  const [drains, closes]: [(() => void)[], (() => void)[]] = [[], []]
  let takes = true
  const sink: Sink = {
    write: (bytes) => {
      written.push(Buffer.from(bytes).toString())
      return takes
    },
    onDrain: (act) => void drains.push(act),
    onClose: (act) => void closes.push(act),
    end: () => void written.push('END'),
  }
  return {
    sink,
    written,
    clog: () => {
      takes = false
    },
    drain: () => {
      takes = true
      for (const act of drains) act()
    },
    close: () => {
      for (const act of closes) act()
    },
  }
}

const event = (id: number): Event => ({
  ...{ id, todo_id: null, queue: null, verb: 'setting', from_state: null, to_state: null, reason: null },
  ...{ actor: 'system', attempt_seq: null, lease_epoch: null, data: id, at: '2026-11-30T21:58:27.123Z' },
})

const batch = (mark: Mark, ...ids: number[]) => batchOf({ events: ids.map(event), cards: new Map() }, mark)
const upTo = (last: number): Mark => markAt({ last, holes: [] }, null)
const told = (written: string[]) =>
  written
    .join('')
    .split('\n')
    .filter((line) => /^event: resync|^data: .*"data"/.test(line))
    .map((line) => (line.startsWith('event') ? 'resync' : JSON.parse(line.slice(6)).data))

describe('a channel', () => {
  test('sends a batch in one write', () => {
    const { sink, written } = connection()
    createChannel(sink, ALL).take(batch(START, 1, 2, 3))
    expect(written).toHaveLength(1)
    expect(told(written)).toEqual([1, 2, 3])
  })

  test('writes a frame out once for all who see the same', () => {
    const chunks: Uint8Array[] = []
    const shared = batch(START, 1, 2)
    for (let n = 0; n < 2; n++) {
      const { sink } = connection()
      createChannel({ ...sink, write: (bytes) => chunks.push(bytes) > 0 }, { ...ALL }).take(shared)
    }
    expect(chunks[0]).toBe(chunks[1])
  })

  test('keeps up to 256 frames for a connection that takes nothing, and sends them in one write', () => {
    const { sink, written, clog, drain } = connection()
    const channel = createChannel(sink, ALL)
    clog()
    for (let id = 1; id <= MOST_WAITING_FRAMES + 1; id++) channel.take(batch(upTo(id - 1), id))
    expect(written).toHaveLength(1)
    drain()
    expect(written).toHaveLength(2)
    expect(told(written)).toEqual(Array.from({ length: MOST_WAITING_FRAMES + 1 }, (_, at) => at + 1))
  })

  test('says resync once to whoever fell further behind, keeps nothing for them, and goes on with what comes next', () => {
    const { sink, written, clog, drain } = connection()
    const channel = createChannel(sink, ALL)
    clog()
    for (let id = 1; id <= 2000; id++) channel.take(batch(upTo(id - 1), id))
    expect(channel.standing(upTo(2000))).toBeNull()
    drain()
    channel.take(batch(upTo(2000), 2001))
    expect(told(written)).toEqual([1, 'resync', 2001])
  })

  test('once released sends what was held, but nothing that has been told, late events included', () => {
    const { sink, written } = connection()
    const channel = createChannel(sink, ALL)
    channel.hold()
    channel.take(batch(upTo(4), 5, 7))
    channel.take(batch({ last: 7, at: null, holes: [{ first: 6, last: 6 }] }, 6, 8))
    expect(written).toEqual([])
    expect(channel.release({ last: 8, at: null, holes: [{ first: 7, last: 7 }] })).toBe(true)
    channel.take(batch(upTo(8), 9))
    expect(told(written)).toEqual([7, 9])
  })

  test('is over once its connection has gone, whatever is waiting', () => {
    const { sink, written, clog, drain, close } = connection()
    const channel = createChannel(sink, ALL)
    clog()
    channel.take(batch(START, 1))
    channel.take(batch(upTo(1), 2))
    close()
    drain()
    channel.end('bye')
    channel.take(batch(upTo(2), 3))
    expect(channel.isOver).toBe(true)
    expect(told(written)).toEqual([1])
  })
})
