import { isTerminal } from '#lib/model/states'
import { TRANSITIONS, type Transition, type TransitionName } from '#lib/model/transitions'
import { count, observe } from '#lib/ops/metrics'
import type { Moved } from './moved'

/** Moves the counters of committed transitions; called once, in the process that committed them. */
export function countMoves(transition: TransitionName, moved: readonly Moved[]): void {
  for (const one of moved) countMove(TRANSITIONS[transition], transition, one)
}

function countMove(row: Transition, transition: TransitionName, { todo, from, asked }: Moved): void {
  const { queue } = todo
  if (transition === 'claim') {
    count('switchboard_todos_claimed_total', { queue })
    observe('switchboard_claim_latency_seconds', {}, secondsBetween(todo.available_at, todo.claimed_at))
  }
  if (isTerminal(todo.state)) count('switchboard_todos_finished_total', { queue, state: todo.state })
  // Whatever is not pending and not over has an open attempt.
  if (row.closes && from !== 'pending')
    count('switchboard_todo_attempts_closed_total', { queue, outcome: row.closes.outcome })
  if (transition === 'expireLease' || transition === 'expireInterrupt') {
    count('switchboard_todo_leases_expired_total', { queue })
  }
  if (transition === 'expireInterrupt') count('switchboard_interrupt_leases_reclaimed_total', { queue })
  if (transition === 'expireParked') count('switchboard_parked_waits_expired_total', { queue })
  if (asked && row.interrupt && row.interrupt !== 'opens') {
    count('switchboard_interrupts_closed_total', { queue, kind: asked.kind, status: row.interrupt })
    if (row.interrupt === 'answered') {
      observe('switchboard_interrupt_wait_seconds', { kind: asked.kind }, asked.seconds)
    }
  }
}

const secondsBetween = (from: string, to: string | null): number =>
  to ? (Date.parse(to) - Date.parse(from)) / 1000 : 0
