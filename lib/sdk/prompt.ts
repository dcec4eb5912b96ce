import type { z } from 'zod'
import type { askSchema } from '#lib/wire/ask'
import type { Interrupt } from '#lib/wire/interrupt'

type Asked = z.input<typeof askSchema>

/** A question to a person, as a handler asks it. */
export interface Prompt
  extends Pick<
    Asked,
    'kind' | 'title' | 'message' | 'schema' | 'ui' | 'url' | 'proposal' | 'risk' | 'for' | 'effect_key'
  > {
  /** Says which question this is, where its words may differ from one attempt to the next. */
  key?: string
}

/** What a form's fields may hold. */
export type Content = Record<string, string | number | boolean | string[]>

/** What a person said. */
export type Answer<Fields = Content> = (
  | { action: 'accept'; content: Fields }
  | { action: 'decline'; content: null }
) & {
  comment: string | null
  /** Who said it, as the log names them. */
  answeredBy: string | null
  interrupt: Interrupt
}

/** The answer a closed question holds. */
export function answerOf<Fields>(interrupt: Interrupt): Answer<Fields> {
  const { action, content, comment, answered_by: answeredBy } = interrupt
  if (action === 'decline') return { action, content: null, comment, answeredBy, interrupt }
  return { action: 'accept', content: content as Fields, comment, answeredBy, interrupt }
}

/** Whether a question was answered, rather than withdrawn or expired. */
export const isAnswered = ({ status }: Interrupt): boolean => status === 'answered' || status === 'resolved'

/**
 * Finds what an earlier attempt asked and had answered: by its key, else by equal words. Each answer without a key counts
 * once, oldest first, so that an attempt that asks the same twice gets both answers in their order.
 */
export class EarlierAnswers {
  readonly #left: Set<Interrupt>

  constructor(interrupts: readonly Interrupt[]) {
    this.#left = new Set(interrupts.filter(isAnswered))
  }

  take(prompt: Prompt): Interrupt | undefined {
    const { key } = prompt
    if (key !== undefined) return [...this.#left].findLast((interrupt) => interrupt.request_id === key)
    const words = wordsOf(prompt)
    const found = [...this.#left].find((interrupt) => wordsOf(interrupt) === words)
    if (found) this.#left.delete(found)
    return found
  }
}

function wordsOf({
  kind = 'input',
  title,
  message,
  schema,
  ui,
  url,
  proposal,
  risk = 'medium',
  for: whom,
}: Prompt | Interrupt): string {
  return JSON.stringify(
    [kind, title, message, schema, ui, url, proposal?.action, proposal?.arguments, risk, whom].map(
      (part) => part ?? null,
    ),
    inOneOrder,
  )
}

// The database keeps an object's keys in an order of its own.
function inOneOrder(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
