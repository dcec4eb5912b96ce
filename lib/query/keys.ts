import type { State } from '#lib/model/states'
import type { BulkOutcome } from '#lib/wire/bulk'
import type { Filter } from './filter'

/** Where in the cache each answer lies. */
export const KEYS = {
  /** Every list of todos and all counts. */
  todos: ['todos'] as const,
  lists: ['todos', 'list'] as const,
  list: (states: readonly State[], filter: Filter) => ['todos', 'list', { states, filter }] as const,
  allCounts: ['todos', 'counts'] as const,
  counts: (filter: Filter) => ['todos', 'counts', { filter }] as const,
  /** One todo and all that is fetched of it. */
  todo: (id: string) => ['todo', id] as const,
  detail: (id: string) => ['todo', id, 'detail'] as const,
  events: (id: string) => ['todo', id, 'events'] as const,
  openPrompts: ['interrupts', 'open'] as const,
  prompts: ['interrupts', 'one'] as const,
  prompt: (id: string) => ['interrupts', 'one', id] as const,
  /** Every bulk run and all that is fetched of one. */
  bulks: ['bulk'] as const,
  bulkList: ['bulk', 'list'] as const,
  bulk: (id: string) => ['bulk', 'one', id] as const,
  bulkResults: (id: string, outcome: BulkOutcome) => ['bulk', 'results', id, outcome] as const,
  queues: ['queues'] as const,
  settings: ['settings'] as const,
  preview: (key: string, value: string) => ['settings', key, 'preview', value] as const,
  me: ['me'] as const,
  names: ['names'] as const,
}
