import { isTerminal, STATE_NAMES, type State } from '#lib/model/states'
import { TRANSITIONS, type Transition, type Verb } from '#lib/model/transitions'
import type { Counts } from '#lib/query/counts'
import { matches } from '#lib/query/filter'
import type { Transitioned } from '#lib/query/frame'
import type { Card } from '#lib/wire/todo'

const START = Date.parse('2026-11-30T12:00:00.000Z')

const uuid = (n: number, kind = '7') => `00000000-0000-${kind}000-8000-${n.toString(16).padStart(12, '0')}`

/** A card as a fresh todo has it. */
export function cardOf(n: number, given: Partial<Card> = {}): Card {
  const at = new Date(START + n * 1000).toISOString()
  return {
    id: uuid(n),
    queue: n % 2 === 0 ? 'even' : 'odd',
    kind: null,
    title: `Todo ${n}`,
    priority: 0,
    idempotency_key: null,
    assignee: null,
    created_by_endpoint_id: null,
    parent_id: null,
    depth: 0,
    live_children: 0,
    state: 'pending',
    owner: null,
    owner_endpoint_id: null,
    lease_epoch: 0,
    lease_seconds: 300,
    lease_expires_at: null,
    attempts: 0,
    failures: 0,
    lease_expirations: 0,
    wait_expirations: 0,
    max_attempts: 3,
    available_at: at,
    deadline_at: null,
    interrupted_at: null,
    open_interrupt_id: null,
    wait_until: null,
    progress: null,
    budget: null,
    usage: null,
    error: null,
    version: 1,
    created_at: at,
    claimed_at: null,
    state_since: at,
    updated_at: at,
    completed_at: null,
    ...given,
  }
}

interface Way {
  verb: Verb
  from: readonly State[]
  to: State
}

const WAYS: Way[] = Object.values(TRANSITIONS as Record<string, Transition>)
  .filter(({ from }) => from.length > 0)
  .flatMap(({ verb, from, to, atCap }) => [
    ...(to === 'same'
      ? from.map((state) => ({ verb, from: [state], to: state }))
      : [{ verb, from, to: to === 'kind' ? ('input-required' as const) : to }]),
    ...(atCap ? [{ verb: 'failed' as const, from, to: atCap }] : []),
  ])

/** Where a card stands in a list of these states, the highest first: what ended last where all have, else the newest. */
export const placeOf = (states: readonly State[], { id, completed_at }: Card): string =>
  states.every(isTerminal) ? `${completed_at}/${id}` : id

/** What the server would know: todos that move by the state machine, a log of facts, and lists as the API answers them. */
export class QueueModel {
  readonly todos = new Map<string, Card>()
  readonly log: Transitioned[] = []
  private made = 0

  create(): void {
    const card = cardOf(++this.made)
    this.todos.set(card.id, card)
    this.tell(card, { verb: 'created', from: null, to: 'pending' })
  }

  /** Moves the `which`th todo the `way`th way it can go. */
  move(which: number, way: number): void {
    const before = [...this.todos.values()].at(which % this.todos.size) as Card
    const ways = WAYS.filter(({ from }) => from.includes(before.state))
    const taken = ways[way % Math.max(ways.length, 1)]
    if (!taken) return
    const asks = taken.to === 'input-required'
    const card = {
      ...before,
      state: taken.to,
      version: before.version + 1,
      lease_expires_at: taken.to === 'claimed' ? new Date(START + before.version * 60_000).toISOString() : null,
      open_interrupt_id: asks ? uuid(before.version, '4') : null,
      // Some end in the same millisecond.
      completed_at: isTerminal(taken.to) ? new Date(START + Math.floor(this.log.length / 3)).toISOString() : null,
    }
    this.todos.set(card.id, card)
    this.tell(card, { verb: taken.verb, from: before.state, to: taken.to })
  }

  list(states: readonly State[], filter: { queue?: string; q?: string }, cursor: string | null) {
    const all = this.among(states, filter).filter((card) => cursor === null || placeOf(states, card) < cursor)
    const todos = all.slice(0, 50)
    const last = todos.at(-1)
    const next_cursor = all.length > 50 && last ? placeOf(states, last) : null
    return { todos, next_cursor, counts: this.counts(filter), oldest: {}, causes: [] }
  }

  among(states: readonly State[], filter: { queue?: string; q?: string }): Card[] {
    const all = [...this.todos.values()].filter((card) => states.includes(card.state) && matches(filter, card))
    return all.sort((a, b) => (placeOf(states, a) < placeOf(states, b) ? 1 : -1))
  }

  counts(filter: { queue?: string; q?: string }): Counts {
    return Object.fromEntries(
      STATE_NAMES.map((state) => [state, { count: this.among([state], filter).length, capped: false }]),
    ) as Counts
  }

  // As the log's reader does it, a fact brings the row as it is when it is told: `frame` looks it up then.
  private tell(card: Card, fact: Pick<Transitioned, 'verb' | 'from' | 'to'>): void {
    this.log.push({
      event_id: this.log.length + 1,
      todo: card,
      reason: null,
      actor: 'system',
      attempt_seq: null,
      lease_epoch: null,
      at: card.updated_at,
      ...fact,
    })
  }

  /** The frame of a fact, with its row as it was then or, read later, as it is now. */
  frame(index: number, isReadLate: boolean): { name: 'transition'; data: Transitioned } {
    const fact = this.log[index] as Transitioned
    const id = fact.todo?.id ?? ''
    return { name: 'transition', data: isReadLate ? { ...fact, todo: this.todos.get(id) ?? null } : fact }
  }
}
