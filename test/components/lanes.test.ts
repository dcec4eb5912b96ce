import { expect, test } from 'vitest'
import type { Event } from '#lib/wire/event'
import type { Attempt } from '#lib/wire/todo'
import { lanesOf } from '../../components/todo/lanes'

const at = (second: number) => new Date(Date.UTC(2026, 10, 30, 12, 0, second)).toISOString()

const event = (id: number, verb: Event['verb'], attempt_seq: number | null, second = id): Event => ({
  id,
  verb,
  attempt_seq,
  at: at(second),
  todo_id: 'a',
  queue: 'q',
  from_state: null,
  to_state: null,
  reason: null,
  actor: 'system',
  lease_epoch: null,
  data: null,
})

const attempt = (seq: number, endedAt: number | null): Attempt => ({
  seq,
  lease_epoch: seq,
  owner: 'mill/mill-1',
  endpoint_id: 'e',
  claimed_at: at(0),
  last_heartbeat_at: at(0),
  ended_at: endedAt === null ? null : at(endedAt),
  outcome: null,
  disposition: null,
  error: null,
})

const shape = (lanes: ReturnType<typeof lanesOf>) =>
  lanes.map(({ attempt: one, events }) => [one?.seq ?? null, ...events.map(({ verb }) => verb)])

test('what an attempt went through stands in its lane, the rest between the lanes', () => {
  const events = [
    event(1, 'created', null),
    event(2, 'claimed', 1),
    event(3, 'failed', 1),
    event(4, 'requeued', 1),
    event(5, 'claimed', 2),
    event(6, 'interrupted', 2),
  ]
  expect(shape(lanesOf([attempt(1, 3), attempt(2, null)], events))).toEqual([
    [null, 'created'],
    [1, 'claimed', 'failed'],
    [null, 'requeued'],
    [2, 'claimed', 'interrupted'],
  ])
})

test('a late write stands in the lane of the worker that had lost its lease', () => {
  const events = [event(1, 'claimed', 1), event(2, 'requeued', 1), event(3, 'claimed', 2), event(4, 'fenced', 1)]
  expect(shape(lanesOf([attempt(1, 2), attempt(2, null)], events))).toEqual([
    [1, 'claimed', 'requeued', 'fenced'],
    [2, 'claimed'],
  ])
})

test('an attempt whose events are no longer kept is there all the same', () => {
  expect(shape(lanesOf([attempt(1, 2)], [event(9, 'requeued', 1)]))).toEqual([[1], [null, 'requeued']])
})
