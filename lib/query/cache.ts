import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { AnswerOf } from '#lib/sdk/client'
import type { Caused } from '#lib/wire/frame'
import type { Card, Todo } from '#lib/wire/todo'
import { applyCards, applyLeases, type Listing, sortOf, type TodoList } from './column'
import { applyTransitions, type Tally } from './counts'
import { type Filter, matches } from './filter'
import type { Frame, Frames, Leased, Transitioned } from './frame'
import { KEYS } from './keys'
import { isNewer } from './known'
import { memoryOf } from './memory'
import { applyToPrompt, applyToPrompts, isMissing, type Prompt, type PromptList } from './prompts'

/** A todo with its attempts and questions, as the cache holds it. */
export type Detail = AnswerOf<'getTodo'>

/** Which todos a list's key asks for, and in which order. */
function listingOf(key: ReturnType<typeof KEYS.list>): Listing {
  const [, , { states, filter }] = key
  return { has: (card) => states.includes(card.state) && matches(filter, card), sort: sortOf(states) }
}

/** A todo without its large columns and its history. */
export function cardOf(todo: Todo & { interrupts?: unknown; prior_attempts?: unknown; children?: unknown }): Card {
  const {
    payload: _,
    result: __,
    checkpoint: ___,
    interrupts: ____,
    prior_attempts: _____,
    children: ______,
    ...card
  } = todo
  return card
}

/** Takes in cards from answers of the API, with how they came to be there if that is told: whatever shows one of them and knew less is put right. */
export function hear(client: QueryClient, cards: readonly Card[], causes: readonly Caused[] = []): void {
  const { known } = memoryOf(client)
  const byId = new Map(causes.map(({ todo_id, ...cause }) => [todo_id, { ...cause, heardAt: LONG_AGO }]))
  applyNews(
    client,
    cards.filter((card) => known.note(card, byId.get(card.id))),
    [],
  )
}

// What an answer tells was not seen to happen.
const LONG_AGO = Number.NEGATIVE_INFINITY

/**
 * Applies frames of the stream to everything cached. Told twice, late or in another order they lead to the same end. Gives
 * the keys of what the frames leave in doubt, to be fetched anew.
 */
export function applyFrames(client: QueryClient, frames: readonly Frame[]): QueryKey[] {
  const { known, isNew } = memoryOf(client)
  const facts = named(frames, 'transition').filter((fact) => isNew(fact.event_id))
  const heardAt = performance.now()
  const news = new Map<string, Card>()
  for (const { todo, ...fact } of facts) {
    if (todo && known.note(todo, { ...fact, heardAt })) news.set(todo.id, todo)
  }
  applyLeased(client, named(frames, 'lease'))
  applyNews(client, [...news.values()], facts)
  applyCounts(client, facts)
  return inDoubt(client, frames, facts)
}

/**
 * Puts an answer right that has just been cached, by what became known while it was on its way. To be called after every
 * fetch: the next page of a list is cached together with the earlier pages as they were when it was asked for.
 */
export function reconcile(client: QueryClient, key: QueryKey): void {
  const cards = memoryOf(client)
    .meanwhile(key)
    .map(({ card }) => card)
  if (cards.length === 0) return
  if (hasPrefix(key, KEYS.lists)) {
    const listing = listingOf(key as ReturnType<typeof KEYS.list>)
    change<TodoList>(client, key, (list) => applyCards(list, cards, listing))
  } else {
    applyNews(client, cards, [])
  }
}

const hasPrefix = (key: QueryKey, prefix: QueryKey): boolean => prefix.every((part, index) => key[index] === part)

const named = <Name extends keyof Frames>(frames: readonly Frame[], name: Name): Frames[Name][] =>
  frames.flatMap((frame) => (frame.name === name ? [frame.data as Frames[Name]] : []))

function applyLeased(client: QueryClient, leased: readonly Leased[]): void {
  if (leased.length === 0) return
  const { known } = memoryOf(client)
  const leases = new Map(leased.map((lease) => [lease.todo_id, lease]))
  for (const lease of leases.values()) known.noteLease(lease)
  changeLists(client, (list) => applyLeases(list, leases))
  for (const [id, { lease_expires_at, progress }] of leases) {
    change<Detail>(client, KEYS.detail(id), (detail) => {
      const { todo } = detail
      if (todo.state !== 'claimed' || (todo.lease_expires_at ?? '') >= lease_expires_at) return detail
      return { ...detail, todo: { ...todo, lease_expires_at, progress } }
    })
  }
}

function applyNews(client: QueryClient, cards: readonly Card[], facts: readonly Transitioned[]): void {
  if (cards.length === 0) return
  const byId = new Map(cards.map((card) => [card.id, card]))
  changeLists(client, (list, listing) => applyCards(list, cards, listing))
  for (const card of cards) {
    change<Detail>(client, KEYS.detail(card.id), (detail) =>
      isNewer(card, detail.todo) ? { ...detail, todo: { ...detail.todo, ...card } } : detail,
    )
  }
  change<PromptList>(client, KEYS.openPrompts, (list) => applyToPrompts(list, byId))
  client.setQueriesData<{ interrupt: Prompt }>({ queryKey: KEYS.prompts }, (one) => {
    const card = one && byId.get(one.interrupt.todo.id)
    if (!card) return one
    const ofTodo = facts.filter(({ todo }) => todo?.id === card.id)
    return { interrupt: applyToPrompt(one.interrupt, card, ofTodo) }
  })
}

function applyCounts(client: QueryClient, facts: readonly Transitioned[]): void {
  const moving = facts.filter(({ from, to }) => from !== to)
  if (moving.length === 0) return
  for (const query of client.getQueryCache().findAll({ queryKey: KEYS.allCounts })) {
    const [, , { filter }] = query.queryKey as ReturnType<typeof KEYS.counts>
    const counted = moving.filter(({ todo }) => isCounted(filter, todo))
    change<Tally>(client, query.queryKey, (tally) => {
      const counts = applyTransitions(tally.counts, counted)
      return counts === tally.counts ? tally : { ...tally, counts }
    })
  }
}

// A todo that is gone says no longer what it was; only a count of all is sure to have had it.
const isCounted = (filter: Filter, todo: Card | null): boolean =>
  todo ? matches(filter, todo) : filter.queue === undefined && filter.q === undefined

function inDoubt(client: QueryClient, frames: readonly Frame[], facts: readonly Transitioned[]): QueryKey[] {
  if (frames.some(({ name }) => name === 'resync')) return [[]]
  const cards = facts.flatMap(({ todo }) => todo ?? [])
  const prompts = client.getQueryData<PromptList>(KEYS.openPrompts)
  const hasNewPrompt = prompts !== undefined && isMissing(prompts, cards.filter(isLatest(client)))
  // Neither changes a question's state, but both its clock.
  const isRetimed = facts.some(({ verb }) => verb === 'extended' || verb === 'parked')
  return [
    // A child that moves changes its parent's page, and how many are alive, without an event of the parent's.
    ...[...new Set(cards.flatMap(({ id, parent_id }) => [id, parent_id ?? id]))]
      .filter((id) => isWatched(client, id))
      .map(KEYS.todo),
    ...(facts.length > 0 ? [KEYS.allCounts] : []),
    ...(hasNewPrompt || isRetimed ? [KEYS.openPrompts] : []),
    ...(cards.length > 0 ? doubtedPrompts(client, new Set(cards.map(({ id }) => id))) : []),
    ...(frames.some(({ name }) => name === 'bulk') ? [KEYS.bulks] : []),
    ...(frames.some(({ name }) => name === 'setting') ? [KEYS.settings, KEYS.openPrompts] : []),
  ]
}

const isWatched = (client: QueryClient, id: string): boolean =>
  client.getQueryState(KEYS.detail(id)) !== undefined || client.getQueryState(KEYS.events(id)) !== undefined

const isLatest =
  (client: QueryClient) =>
  (card: Card): boolean =>
    memoryOf(client).known.get(card.id)?.card.version === card.version

function doubtedPrompts(client: QueryClient, todoIds: ReadonlySet<string>): QueryKey[] {
  const cached = client.getQueriesData<{ interrupt: Prompt }>({ queryKey: KEYS.prompts })
  return cached.flatMap(([key, one]) => (one && todoIds.has(one.interrupt.todo.id) ? [key] : []))
}

function changeLists(client: QueryClient, apply: (list: TodoList, listing: Listing) => TodoList): void {
  for (const query of client.getQueryCache().findAll({ queryKey: KEYS.lists })) {
    const listing = listingOf(query.queryKey as ReturnType<typeof KEYS.list>)
    change<TodoList>(client, query.queryKey, (list) => apply(list, listing))
  }
}

// Setting data anew tells all who watch it, even when it is the same.
function change<Data>(client: QueryClient, key: QueryKey, apply: (data: Data) => Data): void {
  const before = client.getQueryData<Data>(key)
  if (before === undefined) return
  const after = apply(before)
  if (after !== before) client.setQueryData(key, after)
}
