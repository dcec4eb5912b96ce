import { IconArrowBackUp, IconBan, IconCircleMinus, IconParking } from '@tabler/icons-react'
import type { State } from '#lib/model/states'
import { TRANSITIONS, type Transition } from '#lib/model/transitions'
import { CALLS } from '#lib/query/client'
import { createStore } from '#lib/query/store'
import type { Role } from '#lib/wire/caller'
import type { Card } from '#lib/wire/todo'

/** What a person can do to a todo. */
export type ActName = 'requeue' | 'park' | 'reject' | 'cancel'

interface Act {
  label: string
  Icon: typeof IconBan
  isDangerous: boolean
  /** What the todo is afterwards, as a toast says it. */
  done: string
  /** Whether somebody may say why. */
  hasReason: boolean
  /** What it will bring about, said before it is done. */
  consequence(card: Card): string
}

const attemptOf = ({ attempts, owner }: Card): string =>
  `Attempt ${attempts} of worker ${owner?.split('/').slice(1).join('/') || owner || 'unknown'} ends`

const CANCELED: Partial<Record<State, (card: Card) => string>> = {
  pending: () => 'No worker will get it; the todo is canceled.',
  claimed: (card) => `${attemptOf(card)}; the todo is canceled.`,
  'input-required': (card) =>
    `${card.owner ? attemptOf(card) : 'Its question is withdrawn'}; the todo is canceled, its question with it.`,
  'auth-required': (card) =>
    `${card.owner ? attemptOf(card) : 'Its question is withdrawn'}; the todo is canceled, its question with it.`,
}

const withChildren = ({ live_children: n }: Card): string =>
  n === 0 ? '' : ` Its ${n === 1 ? 'live child is' : `${n} live children are`} canceled too.`

/** All acts, in the order of their buttons. */
export const ACTS: Record<ActName, Act> = {
  requeue: {
    label: 'Requeue',
    Icon: IconArrowBackUp,
    isDangerous: false,
    done: 'Put back',
    hasReason: true,
    consequence: () => 'The todo goes back to pending with a fresh allowance of attempts. Its history stays.',
  },
  park: {
    label: 'Park',
    Icon: IconParking,
    isDangerous: false,
    done: 'Parked',
    hasReason: false,
    consequence: ({ owner }) =>
      `Worker ${owner ?? 'unknown'} loses it; the question stays open. Once it is answered any worker may go on, at no cost.`,
  },
  reject: {
    label: 'Reject',
    Icon: IconCircleMinus,
    isDangerous: true,
    done: 'Rejected',
    hasReason: true,
    consequence: () => 'The todo ends as rejected: it should not have been asked for. Nobody has begun it.',
  },
  cancel: {
    label: 'Cancel',
    Icon: IconBan,
    isDangerous: true,
    done: 'Canceled',
    hasReason: true,
    consequence: (card) => `${CANCELED[card.state]?.(card) ?? 'The todo is canceled.'}${withChildren(card)}`,
  },
}

const NAMES = Object.keys(ACTS) as ActName[]
// Not the wire's own list: that comes with schemas that a page does without.
const RANKS: Record<Role, number> = { viewer: 0, responder: 1, operator: 2, admin: 3 }

/** Whether somebody of this role may do what needs that one; nobody may while the role is not known. */
export const mayAs = (role: Role | null, needed: Role): boolean => role !== null && RANKS[role] >= RANKS[needed]

/** What somebody of this role can do to a todo as it stands, as the state machine has it; what nobody holds can't be parked. */
export const possibleActs = ({ state, owner }: Pick<Card, 'state' | 'owner'>, role: Role | null): ActName[] =>
  NAMES.filter(
    (name) =>
      (TRANSITIONS[name] as Transition).from.includes(state) &&
      mayAs(role, CALLS[name].role) &&
      (name !== 'park' || owner !== null),
  )

/** What was asked for, and waits to be confirmed. */
export const asked = createStore<{ name: ActName; card: Card } | null>(null)

/** Asks the person to confirm an act; `Acts`, once on the page, does it. */
export const askFor = (name: ActName, card: Card): void => asked.set({ name, card })
