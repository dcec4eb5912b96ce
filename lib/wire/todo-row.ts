import { CARD_COLUMNS, type Card, TODO_COLUMNS, type Todo } from './todo'

// The one column that is not the row's own: people and workers know endpoints by name.
const ASSIGNEE = (alias: string) =>
  `(SELECT e.name FROM endpoints e WHERE e.id = ${alias}.assignee_endpoint_id) AS assignee`

const columns = (names: readonly string[], alias: string): string =>
  names.map((name) => (name === 'assignee' ? ASSIGNEE(alias) : `${alias}.${name}`)).join(', ')

/** SQL for a todo's columns as they go on the wire; `alias` names a row of `todos` in scope. */
export const todoColumns = (alias: string): string => columns(TODO_COLUMNS, alias)

/** The same without payload, result and checkpoint. */
export const cardColumns = (alias: string): string => columns(CARD_COLUMNS, alias)

/** The todo in a row that may carry more columns than its own. */
export const todoOf = (row: Record<string, unknown>): Todo => pick(TODO_COLUMNS, row) as Todo

/** The card in a row that may carry more columns than its own. */
export const cardOf = (row: Record<string, unknown>): Card => pick(CARD_COLUMNS, row) as Card

const pick = (names: readonly string[], row: Record<string, unknown>) =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? null]))
