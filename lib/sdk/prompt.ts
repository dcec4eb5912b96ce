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
  /** The question's key; one that was asked without has a random one. */
  key: string | null
  /** The question's title. */
  title: string
  comment: string | null
  /** Who said it, as the log names them. */
  answeredBy: string | null
  interrupt: Interrupt
}

/** The answer a closed question holds, under the key it was asked for by. */
export function answerOf<Fields>(interrupt: Interrupt, key = interrupt.request_id): Answer<Fields> {
  const { title, action, content, comment, answered_by: answeredBy } = interrupt
  const about = { key, title, comment, answeredBy, interrupt }
  if (action === 'decline') return { action, content: null, ...about }
  return { action: 'accept', content: content as Fields, ...about }
}

/** Whether a question was answered, rather than withdrawn or expired. */
export const isAnswered = ({ status }: Interrupt): boolean => status === 'answered' || status === 'resolved'
