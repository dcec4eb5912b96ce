import { Alert } from '@mantine/core'
import type { ReactNode } from 'react'
import type { RefusalFacts } from '#lib/model/errors'
import type { Interrupt } from '#lib/wire/interrupt'
import { RelativeTime } from '../shell/relative-time'
import { Actor } from '../todo/actor'
import { doneText } from './done-text'

interface OutcomeProps {
  interrupt: Interrupt
  /** What the refusal of an answer told, when it came before the question's own news. */
  facts: RefusalFacts
  hasDraft: boolean
}

/** How a question was closed: by whom and when, and what becomes of what was typed. */
export function Outcome({ interrupt, facts, hasDraft }: OutcomeProps) {
  const { tone, text } = wordsFor(interrupt, facts)
  return (
    <Alert color={tone} variant="light" role="status">
      {text}
      {hasDraft && ' What you typed was not sent; it is kept here.'}
    </Alert>
  )
}

const resolvedText = ({ effect_key }: Interrupt): string =>
  effect_key === null
    ? 'The agent got its answer elsewhere and went on'
    : 'The worker that began it has said itself how it went'

const textOf = (fact: unknown): string | null => (typeof fact === 'string' ? fact : null)

function wordsFor(interrupt: Interrupt, facts: RefusalFacts): { tone: string; text: ReactNode } {
  const by = interrupt.answered_by ?? textOf(facts.answered_by)
  const at = interrupt.answered_at ?? textOf(facts.answered_at)
  switch (interrupt.status) {
    case 'expired':
      return { tone: 'yellow', text: 'Nobody answered in time: the todo was taken back. No answer counts any more.' }
    case 'canceled':
      return { tone: 'gray', text: 'The question was withdrawn: its todo has ended.' }
    case 'resolved':
      return { tone: 'blue', text: <Closed how={resolvedText(interrupt)} by={null} at={at} /> }
    case 'answered':
      return {
        tone: 'blue',
        text: <Closed how={doneText(interrupt.kind, interrupt.action ?? 'accept')} by={by} at={at} />,
      }
    default:
      if (by) return { tone: 'blue', text: <Closed how="Answered" by={by} at={at} /> }
      return { tone: 'yellow', text: 'The question is closed. No answer counts any more.' }
  }
}

function Closed({ how, by, at }: { how: string; by: string | null; at: string | null }) {
  return (
    <>
      {how}
      {by && (
        <>
          {' by '}
          <strong>
            <Actor actor={by} />
          </strong>
        </>
      )}
      {at && (
        <>
          {', '}
          <RelativeTime at={at} />
        </>
      )}
      .
    </>
  )
}
