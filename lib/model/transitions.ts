import { INTERRUPTS, LIVE, type State } from './states'

/** What a committed event says happened; the last five leave the state as it is. */
export const VERBS = [
  'created',
  'claimed',
  'completed',
  'failed',
  'retry_scheduled',
  'released',
  'interrupted',
  'parked',
  'answered',
  'resumed',
  'waiting',
  'continued',
  'canceled',
  'rejected',
  'requeued',
  'extended',
  'edited',
  'effect_begun',
  'effect_settled',
  'fenced',
] as const
export type Verb = (typeof VERBS)[number]

/** How an attempt ended. */
export const OUTCOMES = [
  'completed',
  'failed',
  'released',
  'continued',
  'reaped',
  'expired',
  'deadline',
  'budget',
  'canceled',
  'revoked',
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** What became of the todo when an attempt ended. */
export const DISPOSITIONS = ['done', 'retry_scheduled', 'dead_lettered', 'requeued', 'canceled'] as const
export type Disposition = (typeof DISPOSITIONS)[number]

/** How an interrupt stands. */
export const INTERRUPT_STATUSES = ['open', 'answered', 'resolved', 'expired', 'canceled'] as const
export type InterruptStatus = (typeof INTERRUPT_STATUSES)[number]

/** One row of the state machine: `move` makes its SQL from it, buttons and docs derive from it. */
export interface Transition {
  from: readonly State[]
  /** Where it lands; `kind` means the interrupt state its kind calls for, `same` that only who holds it changes. */
  to: State | 'kind' | 'same'
  /** Where it lands instead when the allowance is used up or the worker said not to try again. */
  atCap?: 'failed'
  /** Who does it; what the holder may do, an operator may where the plan lets it. */
  by: 'client' | 'worker' | 'holder' | 'responder' | 'operator' | 'reaper' | 'system'
  verb: Verb
  /** How the open attempt ends, if it does. */
  closes?: { outcome: Outcome; disposition: Disposition }
  interrupt?: 'opens' | Exclude<InterruptStatus, 'open'>
  lease: 'takes' | 'keeps' | 'clears'
  /** The event's reason, where it is always the same. */
  reason?: string
}

/** Every way a todo's state changes (domain.md, Transitions). Nothing else writes `todos.state`. */
export const TRANSITIONS = {
  enqueue: { from: [], to: 'pending', by: 'client', verb: 'created', lease: 'clears' },
  claim: { from: ['pending'], to: 'claimed', by: 'worker', verb: 'claimed', lease: 'takes' },
  complete: {
    from: ['claimed'],
    to: 'completed',
    by: 'holder',
    verb: 'completed',
    closes: { outcome: 'completed', disposition: 'done' },
    lease: 'clears',
  },
  fail: {
    from: ['claimed'],
    to: 'pending',
    atCap: 'failed',
    by: 'holder',
    verb: 'retry_scheduled',
    closes: { outcome: 'failed', disposition: 'retry_scheduled' },
    lease: 'clears',
  },
  release: {
    from: ['claimed'],
    to: 'pending',
    by: 'holder',
    verb: 'released',
    closes: { outcome: 'released', disposition: 'requeued' },
    lease: 'clears',
  },
  interrupt: { from: ['claimed'], to: 'kind', by: 'holder', verb: 'interrupted', interrupt: 'opens', lease: 'keeps' },
  interruptParked: {
    from: ['claimed'],
    to: 'kind',
    by: 'holder',
    verb: 'interrupted',
    interrupt: 'opens',
    lease: 'clears',
  },
  park: { from: INTERRUPTS, to: 'same', by: 'holder', verb: 'parked', lease: 'clears' },
  answer: { from: INTERRUPTS, to: 'claimed', by: 'responder', verb: 'answered', interrupt: 'answered', lease: 'keeps' },
  answerParked: {
    from: INTERRUPTS,
    to: 'pending',
    by: 'responder',
    verb: 'answered',
    closes: { outcome: 'continued', disposition: 'requeued' },
    interrupt: 'answered',
    lease: 'clears',
  },
  resume: { from: INTERRUPTS, to: 'claimed', by: 'holder', verb: 'resumed', interrupt: 'resolved', lease: 'keeps' },
  // Whoever began an effect says how it went while its todo asks a person just that: the question is answered by it.
  effectKnown: {
    from: INTERRUPTS,
    to: 'claimed',
    by: 'holder',
    verb: 'resumed',
    interrupt: 'resolved',
    lease: 'keeps',
    reason: 'effect_settled',
  },
  effectKnownParked: {
    from: INTERRUPTS,
    to: 'pending',
    by: 'holder',
    verb: 'continued',
    closes: { outcome: 'continued', disposition: 'requeued' },
    interrupt: 'resolved',
    lease: 'clears',
    reason: 'effect_settled',
  },
  wait: { from: ['claimed'], to: 'waiting', by: 'holder', verb: 'waiting', lease: 'clears' },
  childrenDone: {
    from: ['waiting'],
    to: 'pending',
    by: 'system',
    verb: 'continued',
    closes: { outcome: 'continued', disposition: 'requeued' },
    lease: 'clears',
    reason: 'children_done',
  },
  cancel: {
    from: LIVE,
    to: 'canceled',
    by: 'client',
    verb: 'canceled',
    closes: { outcome: 'canceled', disposition: 'canceled' },
    interrupt: 'canceled',
    lease: 'clears',
  },
  reject: { from: ['pending'], to: 'rejected', by: 'client', verb: 'rejected', lease: 'clears' },
  requeue: {
    from: ['failed', 'canceled', 'rejected'],
    to: 'pending',
    by: 'operator',
    verb: 'requeued',
    lease: 'clears',
  },
  exceedBudget: {
    from: ['claimed'],
    to: 'failed',
    by: 'holder',
    verb: 'failed',
    closes: { outcome: 'budget', disposition: 'dead_lettered' },
    lease: 'clears',
    reason: 'budget_exceeded',
  },
  expireBudget: {
    from: ['claimed'],
    to: 'failed',
    by: 'reaper',
    verb: 'failed',
    closes: { outcome: 'budget', disposition: 'dead_lettered' },
    lease: 'clears',
    reason: 'budget_exceeded',
  },
  expireDeadline: {
    from: LIVE,
    to: 'failed',
    by: 'reaper',
    verb: 'failed',
    closes: { outcome: 'deadline', disposition: 'dead_lettered' },
    interrupt: 'expired',
    lease: 'clears',
    reason: 'deadline_exceeded',
  },
  expireLease: {
    from: ['claimed'],
    to: 'pending',
    atCap: 'failed',
    by: 'reaper',
    verb: 'requeued',
    closes: { outcome: 'reaped', disposition: 'requeued' },
    lease: 'clears',
    reason: 'lease_expired',
  },
  expireInterrupt: {
    from: INTERRUPTS,
    to: 'pending',
    atCap: 'failed',
    by: 'reaper',
    verb: 'requeued',
    closes: { outcome: 'reaped', disposition: 'requeued' },
    interrupt: 'expired',
    lease: 'clears',
    reason: 'interrupt_expired',
  },
  expireParked: {
    from: INTERRUPTS,
    to: 'pending',
    atCap: 'failed',
    by: 'reaper',
    verb: 'requeued',
    closes: { outcome: 'expired', disposition: 'requeued' },
    interrupt: 'expired',
    lease: 'clears',
    reason: 'wait_expired',
  },
  exhaust: {
    from: ['pending'],
    to: 'failed',
    by: 'reaper',
    verb: 'failed',
    lease: 'clears',
    reason: 'max_attempts_exceeded',
  },
  revokeAssigned: {
    from: LIVE,
    to: 'failed',
    by: 'system',
    verb: 'failed',
    closes: { outcome: 'revoked', disposition: 'dead_lettered' },
    interrupt: 'canceled',
    lease: 'clears',
    reason: 'endpoint_revoked',
  },
  revokeClaimed: {
    from: ['claimed'],
    to: 'pending',
    by: 'system',
    verb: 'requeued',
    closes: { outcome: 'revoked', disposition: 'requeued' },
    lease: 'clears',
    reason: 'endpoint_revoked',
  },
  revokeHeld: {
    from: INTERRUPTS,
    to: 'same',
    by: 'system',
    verb: 'parked',
    lease: 'clears',
    reason: 'endpoint_revoked',
  },
} as const satisfies Record<string, Transition>

export type TransitionName = keyof typeof TRANSITIONS

/** Every state a transition may land in, the last that of the cap. */
export const landings = ({ from, to, atCap }: Transition): State[] => [
  ...(to === 'kind' ? INTERRUPTS : to === 'same' ? from : [to]),
  ...(atCap ? [atCap] : []),
]

/** Why a todo became pending, as the ready hook tells it, by the verb of the event that put it there. */
export const READY_REASONS = {
  created: 'created',
  requeued: 'requeued',
  retry_scheduled: 'retry',
  released: 'released',
  continued: 'continued',
  answered: 'continued',
} as const satisfies Partial<Record<Verb, string>>

export type ReadyReason = (typeof READY_REASONS)[keyof typeof READY_REASONS]
