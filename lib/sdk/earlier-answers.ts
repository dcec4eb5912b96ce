import type { Interrupt } from '#lib/wire/interrupt'
import { saidBy } from '#lib/wire/same-question'
import { anewOf, latestOf } from './asked-anew'
import { isAnswered, type Prompt } from './prompt'

/** What an approval is for: exactly this, as the person who gave it was shown it. */
export interface Approvable {
  key?: string | undefined
  title: string
  action: string
  /** The hash of its arguments. */
  hash: string
}

/**
 * Finds what earlier attempts asked and had answered. Each answer without a key counts once, oldest first, so that an
 * attempt that asks the same twice gets both answers in their order.
 */
export class EarlierAnswers {
  readonly #left: Set<Interrupt>
  readonly #anew: readonly Interrupt[]

  constructor(interrupts: readonly Interrupt[]) {
    const answered = interrupts.filter(isAnswered)
    this.#left = new Set(answered.filter((one) => anewOf(one) === null))
    this.#anew = answered.filter((one) => anewOf(one) !== null)
  }

  /** The answer to the same question: by its key, else by equal words. */
  take(prompt: Prompt): Interrupt | undefined {
    const { key } = prompt
    if (key !== undefined) return this.#newest(({ request_id }) => request_id === key)
    const words = wordsOf(prompt)
    return this.#once((interrupt) => wordsOf(interrupt) === words)
  }

  /** What was said to the same proposal: by its key, else by its title; never to other arguments or another action. */
  takeApproval(asked: Approvable): Interrupt | undefined {
    const { key, title } = asked
    if (key !== undefined) return this.#newest((interrupt) => interrupt.request_id === key && isFor(interrupt, asked))
    return this.#once((interrupt) => interrupt.title === title && isFor(interrupt, asked))
  }

  /** What was said last to this approval, should it have been asked for anew. */
  latest(approval: Interrupt): Interrupt {
    return latestOf(approval, this.#anew)
  }

  #newest(isIt: (interrupt: Interrupt) => boolean): Interrupt | undefined {
    const found = [...this.#left].findLast(isIt)
    return found && this.latest(found)
  }

  #once(isIt: (interrupt: Interrupt) => boolean): Interrupt | undefined {
    const found = [...this.#left].find(isIt)
    if (found) this.#left.delete(found)
    return found && this.latest(found)
  }
}

/** Whether a question is the approval of this action with these arguments. */
export const isFor = ({ proposal }: Interrupt, { action, hash }: Pick<Approvable, 'action' | 'hash'>): boolean =>
  proposal?.action === action && proposal.arguments_hash === hash

const wordsOf = (question: Prompt | Interrupt): string => JSON.stringify(saidBy(question), inOneOrder)

// The database keeps an object's keys in an order of its own.
function inOneOrder(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
