'use client'

import { useMutation } from '@tanstack/react-query'
import { Refusal } from '#lib/model/errors'
import { answerPrompt, type Reply } from '#lib/query/answer'
import type { Interrupt } from '#lib/wire/interrupt'
import { doneText } from '../inbox/done-text'
import { PromptForm } from '../inbox/prompt-form'
import { toast } from '../shell/toast'
import { shown } from '../shell/untrusted'

/** The form of an open question, where the question stands. */
export default function AnswerHere({ interrupt }: { interrupt: Interrupt }) {
  const answer = useMutation(answerPrompt)
  const errors = answer.error instanceof Refusal ? (answer.error.facts.errors ?? []) : []

  async function send(reply: Reply): Promise<void> {
    await answer.mutateAsync({ id: interrupt.id, ...reply })
    void toast({ title: doneText(interrupt.kind, reply.action), message: shown(interrupt.title), tone: 'good' })
  }

  return <PromptForm interrupt={interrupt} onAnswer={send} errors={errors} />
}
