'use client'

import { Badge, Button, Skeleton } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { Refusal } from '#lib/model/errors'
import { answerPrompt, type Reply } from '#lib/query/answer'
import { promptOf } from '#lib/query/interrupts'
import type { Prompt } from '#lib/query/prompts'
import { RelativeTime } from '../shell/relative-time'
import { toast } from '../shell/toast'
import { shown, Untrusted } from '../shell/untrusted'
import { mayAs } from '../todo/acts-table'
import { useRole } from '../todo/use-role'
import { IfNobodyAnswers } from './deadline'
import { doneText } from './done-text'
import { Earlier } from './earlier'
import { Markdown } from './markdown'
import { PromptForm } from './prompt-form'
import { workerOf } from './prompt-list'
import styles from './prompt-pane.module.css'
import { Proposal } from './proposal'

interface PromptPaneProps {
  id: string
  /** The same question as the list has it. */
  listed: Prompt | undefined
  onAnswered(): void
  /** The way back to the list, where only one of both is shown. */
  onBack: (() => void) | null
}

/** One question: what is asked and by whom, what happens if nobody answers, the form, and what was asked before. */
export function PromptPane({ id, listed, onAnswered, onBack }: PromptPaneProps) {
  const { data, error, refetch } = useQuery(promptOf(id))
  const fetched = data?.interrupt
  // The list hears of a changed deadline; the question itself of how it was closed.
  const prompt = fetched && { ...fetched, expires_at: listed?.expires_at ?? fetched.expires_at }
  return (
    <div className={styles.pane}>
      {onBack && (
        <Button
          className={styles.back}
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<IconArrowLeft size={16} aria-hidden />}
          onClick={onBack}
        >
          All questions
        </Button>
      )}
      {prompt && <Question prompt={prompt} onAnswered={onAnswered} />}
      {!prompt && !error && <Skeleton height={260} />}
      {!prompt && error && <Missing error={error} retry={() => void refetch()} />}
    </div>
  )
}

function Question({ prompt, onAnswered }: { prompt: Prompt; onAnswered: () => void }) {
  const { title, message, proposal, todo, risk, status, requested_at, attempt_seq } = prompt
  return (
    <article aria-label={shown(title)}>
      <header className={styles.head}>
        <h2 className={styles.title}>
          <Untrusted text={title} />
        </h2>
        {risk !== 'medium' && (
          <Badge variant={risk === 'critical' ? 'filled' : 'light'} color={risk === 'low' ? 'gray' : 'red'}>
            {risk} risk
          </Badge>
        )}
      </header>
      <p className={styles.facts}>
        <Untrusted text={workerOf(prompt)} /> {prompt.kind === 'approval' ? 'asks for approval' : 'asks'},{' '}
        <RelativeTime at={requested_at} />, in attempt {attempt_seq} of{' '}
        <Link href={`/todos/${todo.id}`}>
          <Untrusted text={todo.title} />
        </Link>{' '}
        in queue {todo.queue}
        {prompt.for && (
          <>
            {' '}
            · for <Untrusted text={prompt.for} />
          </>
        )}
      </p>
      {message && (
        <div className={styles.message}>
          <Markdown text={message} />
        </div>
      )}
      {proposal && <Proposal proposal={proposal} validSeconds={prompt.valid_seconds} />}
      {status === 'open' && (
        <p className={styles.deadline}>
          <IfNobodyAnswers prompt={prompt} />
        </p>
      )}
      <Answering prompt={prompt} onAnswered={onAnswered} />
      <Earlier prompt={prompt} />
    </article>
  )
}

function Answering({ prompt, onAnswered }: { prompt: Prompt; onAnswered: () => void }) {
  const role = useRole()
  const answer = useMutation(answerPrompt)
  const errors = answer.error instanceof Refusal ? (answer.error.facts.errors ?? NONE) : NONE

  async function send(reply: Reply): Promise<void> {
    await answer.mutateAsync({ id: prompt.id, ...reply })
    void toast({ title: doneText(prompt.kind, reply.action), message: shown(prompt.title), tone: 'good' })
    onAnswered()
  }

  if (role !== null && !mayAs(role, 'responder')) {
    return <p className={styles.unable}>Answering takes the role of a responder; an admin can give it to you.</p>
  }
  return (
    <div className={styles.form}>
      <PromptForm interrupt={prompt} onAnswer={send} errors={errors} />
    </div>
  )
}

const NONE: never[] = []

function Missing({ error, retry }: { error: Error; retry: () => void }) {
  const isAbsent = error instanceof Refusal && ['not_found', 'validation_failed'].includes(error.code)
  return (
    <>
      <h2 className={styles.title}>{isAbsent ? 'There is no such question' : 'This question could not be loaded'}</h2>
      <p className={styles.facts}>
        {isAbsent ? 'It may have been deleted with its todo, or the address was cut short.' : error.message}
      </p>
      {!isAbsent && (
        <Button mt="md" variant="default" size="xs" onClick={retry}>
          Try again
        </Button>
      )}
    </>
  )
}
