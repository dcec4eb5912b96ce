import { STATE_NAMES, STATES, type State } from '#lib/model/states'

/** A column of the board: the states it shows, the first of which gives it lamp and name. */
export interface BoardColumn {
  state: State
  states: readonly State[]
  /** Takes little room while nothing is in it. */
  isRailWhenEmpty: boolean
  /** Whether how long the oldest has been there says something: it is not over, or it waits for somebody to look. */
  hasAge: boolean
}

/** What was turned away shares a column with what was no longer wanted. */
const WITH: Partial<Record<State, State>> = { rejected: 'canceled' }

const columnOf = (state: State): BoardColumn => ({
  state,
  states: [state, ...STATE_NAMES.filter((other) => WITH[other] === state)],
  isRailWhenEmpty: STATES[state].kind === 'interrupt' || STATES[state].kind === 'parked',
  hasAge: STATES[state].kind !== 'terminal' || state === 'failed',
})

/** The board's columns, in its order. */
export const COLUMNS: readonly BoardColumn[] = STATE_NAMES.filter((state) => !WITH[state]).map(columnOf)
