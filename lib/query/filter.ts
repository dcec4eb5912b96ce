import type { Card } from '#lib/wire/todo'

/** Which todos somebody wants to see; all that are given must hold. */
export interface Filter {
  queue?: string
  /** Text in id, title, kind or error, in any case. */
  q?: string
}

/** Whether a todo is among those, judged as the server judges it. */
export function matches({ queue, q }: Filter, card: Card): boolean {
  if (queue !== undefined && card.queue !== queue) return false
  return q === undefined || contains(card, q.toLowerCase())
}

const contains = ({ id, title, kind, error }: Card, text: string): boolean =>
  [title, id, kind ?? '', error ? JSON.stringify(error) : ''].some((part) => part.toLowerCase().includes(text))
