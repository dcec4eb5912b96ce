import type { InfiniteData } from '@tanstack/react-query'
import { type InterruptStatus, TRANSITIONS, type Transition } from '#lib/model/transitions'
import type { AnswerOf } from '#lib/sdk/client'
import type { Card } from '#lib/wire/todo'
import { mapSome } from './column'
import type { Transitioned } from './frame'
import { isNewer } from './known'

/** A question with its deadline and its todo's card. */
export type Prompt = AnswerOf<'listInterrupts'>['interrupts'][number]

/** Open questions as far as they have been fetched, soonest deadline first. */
export type PromptList = InfiniteData<AnswerOf<'listInterrupts'>, string | null>

/** A question as its todo's later card tells: the todo as it is now, or null when the question is no longer open. */
function asOf(prompt: Prompt, card: Card | undefined): Prompt | null {
  if (!card || !isNewer(card, prompt.todo)) return prompt
  return card.open_interrupt_id === prompt.id ? { ...prompt, todo: card } : null
}

/** The open questions after these todos changed; the very same list when nothing in it did. */
export function applyToPrompts(list: PromptList, cards: ReadonlyMap<string, Card>): PromptList {
  const pages = mapSome(list.pages, (page) => {
    const interrupts = mapSome(page.interrupts, (prompt) => asOf(prompt, cards.get(prompt.todo.id)))
    return interrupts === page.interrupts ? page : { ...page, interrupts }
  })
  return pages === list.pages ? list : { ...list, pages }
}

/** Whether one of these todos has an open question that the list has not. */
export function isMissing(list: PromptList, cards: Iterable<Card>): boolean {
  const listed = new Set(list.pages.flatMap(({ interrupts }) => interrupts.map(({ id }) => id)))
  return [...cards].some(({ open_interrupt_id: id }) => id !== null && !listed.has(id))
}

/** A question after its todo changed: closed with its true outcome where one of the facts tells it. */
export function applyToPrompt(prompt: Prompt, card: Card, facts: readonly Transitioned[]): Prompt {
  if (!isNewer(card, prompt.todo)) return prompt
  if (prompt.status !== 'open' || card.open_interrupt_id === prompt.id) return { ...prompt, todo: card }
  const closing = facts.filter(({ attempt_seq }) => attempt_seq === prompt.attempt_seq).map(closedAs)
  return { ...prompt, todo: card, status: closing.findLast((status) => status !== null) ?? prompt.status }
}

type Closed = Exclude<InterruptStatus, 'open'>

const ROWS: readonly Transition[] = Object.values(TRANSITIONS)

/** How a fact closed its todo's question, as the state machine has it; null when it closed none. */
export function closedAs({ from, to, verb }: Pick<Transitioned, 'from' | 'to' | 'verb'>): Closed | null {
  const row = ROWS.find(
    (one) =>
      from !== null &&
      one.from.includes(from) &&
      (one.verb === verb || (to !== null && one.atCap === to)) &&
      one.interrupt !== undefined &&
      one.interrupt !== 'opens',
  )
  return (row?.interrupt as Closed | undefined) ?? null
}
