/** Every state a todo can be in: what it is, how it looks, what it is called in A2A. The database's CHECK equals this list. */
export const STATES = {
  pending: {
    kind: 'live',
    label: 'Pending',
    description: 'Ready for a worker, or soon to be.',
    lamp: 'hollow',
    color: 'gray',
    a2a: 'submitted',
  },
  claimed: {
    kind: 'leased',
    label: 'Claimed',
    description: 'A worker has it, under a lease.',
    lamp: 'steady',
    color: 'blue',
    a2a: 'working',
  },
  'input-required': {
    kind: 'interrupt',
    label: 'Input required',
    description: 'Its worker asked a person a question.',
    lamp: 'slow-blink',
    color: 'yellow',
    a2a: 'input-required',
  },
  'auth-required': {
    kind: 'interrupt',
    label: 'Auth required',
    description: 'Somebody has to sign in for it.',
    lamp: 'blink',
    color: 'violet',
    a2a: 'auth-required',
  },
  waiting: {
    kind: 'parked',
    label: 'Waiting',
    description: 'Goes on when its children have ended.',
    lamp: 'ring',
    color: 'teal',
    a2a: 'working',
  },
  completed: {
    kind: 'terminal',
    label: 'Completed',
    description: 'Done; the result is kept.',
    lamp: 'check',
    color: 'green',
    a2a: 'completed',
  },
  failed: {
    kind: 'terminal',
    label: 'Failed',
    description: 'Given up: a dead letter, with its error.',
    lamp: 'cross',
    color: 'red',
    a2a: 'failed',
  },
  canceled: {
    kind: 'terminal',
    label: 'Canceled',
    description: 'Ended because it is no longer wanted.',
    lamp: 'slash',
    color: 'gray',
    a2a: 'canceled',
  },
  rejected: {
    kind: 'terminal',
    label: 'Rejected',
    description: 'Turned away before anybody began.',
    lamp: 'minus',
    color: 'gray',
    a2a: 'rejected',
  },
} as const satisfies Record<string, StateRow>

interface StateRow {
  kind: 'live' | 'leased' | 'interrupt' | 'parked' | 'terminal'
  label: string
  /** What a person should think of when the lamp shows it. */
  description: string
  lamp: 'hollow' | 'steady' | 'slow-blink' | 'blink' | 'ring' | 'check' | 'cross' | 'slash' | 'minus'
  color: string
  a2a: string
}

/** A todo's state, as written in the database, on the wire and in metrics. */
export type State = keyof typeof STATES

/** All states, in the board's order. */
export const STATE_NAMES = Object.keys(STATES) as [State, ...State[]]

/** The states in which a todo has ended for good unless an operator requeues it. */
export const TERMINAL = STATE_NAMES.filter((state) => STATES[state].kind === 'terminal')

/** The states in which something or somebody still moves a todo on. */
export const LIVE = STATE_NAMES.filter((state) => STATES[state].kind !== 'terminal')

/** The states in which a todo has an open question. */
export const INTERRUPTS = STATE_NAMES.filter((state) => STATES[state].kind === 'interrupt')

/** Whether a todo in this state has ended. */
export const isTerminal = (state: State): boolean => STATES[state].kind === 'terminal'
