import type { Card } from '#lib/wire/todo'

type Waiting = Pick<Card, 'owner' | 'failures' | 'lease_expirations' | 'wait_expirations' | 'max_attempts'>

/** What it costs a todo when nobody answers in time: how many of its attempts, or of its parked questions, are gone then. */
export interface WaitEnd {
  isParked: boolean
  spent: number
  of: number
  /** Whether the todo fails for good then; otherwise it goes back to the queue. */
  isFinal: boolean
}

/** A held question that expires counts like a lost lease; a parked one only against the questions nobody answered. */
export function waitEnd(todo: Waiting): WaitEnd {
  const isParked = todo.owner === null
  const before = isParked ? todo.wait_expirations : todo.failures + todo.lease_expirations
  return { isParked, spent: before + 1, of: todo.max_attempts, isFinal: before + 1 >= todo.max_attempts }
}
