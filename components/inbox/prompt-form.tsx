'use client'

import { Alert, Button, TextInput } from '@mantine/core'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { Refusal, type Violation } from '#lib/model/errors'
import type { Reply } from '#lib/query/answer'
import type { Interrupt } from '#lib/wire/interrupt'
import { shown, Untrusted } from '../shell/untrusted'
import { AnswerContent } from '../todo/answer-content'
import { AuthLink } from './auth-link'
import { DeclineBox } from './decline-box'
import { forgetDraft, keepDraft, useDraft } from './drafts'
import { contentOf, fieldsOf, heldBy, wrongOf } from './fields'
import { Outcome } from './outcome'
import { PromptField } from './prompt-field'
import styles from './prompt-form.module.css'

interface PromptFormProps {
  interrupt: Interrupt
  /** Sends the answer; rejects with the refusal when it didn't count. */
  onAnswer(reply: Reply): Promise<void>
  /** What the server found wrong with what was sent last. */
  errors: readonly Violation[]
}

const ACCEPT = { input: 'Send answer', auth: 'I have signed in', approval: 'Approve' }
const DECLINE = { input: 'Decline', auth: 'Decline', approval: 'Deny' }

/**
 * The form of a question, made from its schema. What is typed is kept by this browser until it is sent, whatever happens
 * to the page or the question; once the question is closed the form says how.
 */
export const PromptForm = (props: PromptFormProps) => <OneForm key={props.interrupt.id} {...props} />

function OneForm({ interrupt, onAnswer, errors }: PromptFormProps) {
  const { id, kind, status } = interrupt
  const form = useRef<HTMLFormElement>(null)
  const draft = useDraft(id)
  const fields = useMemo(() => fieldsOf(interrupt), [interrupt])
  const { send, isSending, failure } = useSending(interrupt, onAnswer)
  const [isDeclining, setDeclining] = useState(false)
  const wrong = wrongOf(errors, fields)
  const isClosed = status !== 'open' || failure?.isFinal === true
  const mustType = kind === 'approval' && interrupt.risk === 'critical'
  const hasDraft = draft.at > 0
  const [typed, setTyped] = useState('')
  const isConfirmed = !mustType || typed.trim() === interrupt.title.trim()

  useEffect(() => {
    if (errors.length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [errors])

  const accept = () =>
    send({ action: 'accept', ...(kind === 'input' ? { content: contentOf(fields, draft.fields) } : {}) })
  const decline = () => {
    const comment = draft.comment.trim()
    if (comment) void send({ action: 'decline', comment })
  }
  function submit(): void {
    if (isDeclining) decline()
    else if (isConfirmed) void accept()
  }

  function pressed(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }

  return (
    <form
      ref={form}
      className={styles.form}
      noValidate
      aria-label={`Answer: ${shown(interrupt.title)}`}
      onKeyDown={pressed}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {isClosed && !isSending && <Outcome interrupt={interrupt} facts={failure?.facts ?? {}} hasDraft={hasDraft} />}
      {isClosed && <AnswerContent interrupt={interrupt} />}
      {kind === 'auth' && interrupt.url && !isClosed && <AuthLink url={interrupt.url} />}
      {!isDeclining &&
        (!isClosed || hasDraft) &&
        fields.map((field) => (
          <PromptField
            key={field.name}
            field={field}
            value={heldBy(field, draft.fields)}
            error={wrong.byField.get(field.name)}
            disabled={isClosed || isSending}
            onChange={(value) => keepDraft(id, { fields: { ...draft.fields, [field.name]: value } })}
          />
        ))}
      {wrong.others.map((text) => (
        <Problem key={text} text={text} />
      ))}
      {failure && !failure.isFinal && failure.text && <Problem text={failure.text} />}
      {isDeclining && (
        <DeclineBox
          label={DECLINE[kind]}
          comment={draft.comment}
          disabled={isClosed}
          isSending={isSending}
          onChange={(comment) => keepDraft(id, { comment })}
          onBack={() => setDeclining(false)}
        />
      )}
      {mustType && !isDeclining && !isClosed && (
        <TextInput
          label="Type the question’s title to approve it"
          description={<Untrusted text={interrupt.title} />}
          autoComplete="off"
          value={typed}
          disabled={isSending}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
      {!isDeclining && !isClosed && (
        <div className={styles.actions}>
          <Button type="submit" loading={isSending} disabled={!isConfirmed}>
            {ACCEPT[kind]}
          </Button>
          <span className={styles.keys}>
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </span>
          <Button className={styles.decline} variant="default" disabled={isSending} onClick={() => setDeclining(true)}>
            {DECLINE[kind]}…
          </Button>
        </div>
      )}
    </form>
  )
}

const Problem = ({ text }: { text: string }) => (
  <Alert color="red" variant="light" role="alert">
    {text}
  </Alert>
)

/** Why an answer did not count: whether the question is closed to all, what the server told, and it in words. */
interface Failed {
  isFinal: boolean
  facts: Refusal['facts']
  text: string | null
}

const FINAL: readonly string[] = ['already_answered', 'interrupt_closed', 'todo_terminal']

function failedOf(error: unknown): Failed {
  if (!(error instanceof Refusal)) return { isFinal: false, facts: {}, text: 'It could not be sent. Try again.' }
  // Fields have their own words, by the errors that come with the form.
  const text = error.code === 'validation_failed' && error.facts.errors?.length ? null : error.message
  return { isFinal: FINAL.includes(error.code), facts: { ...error.facts, code: error.code }, text }
}

/** Sends once at a time: however often a button is pressed before it is drawn disabled, one answer goes out. */
function useSending({ id }: Interrupt, onAnswer: PromptFormProps['onAnswer']) {
  const isOut = useRef(false)
  const [isSending, setSending] = useState(false)
  const [failure, setFailure] = useState<Failed | null>(null)

  async function send(reply: Reply): Promise<void> {
    if (isOut.current) return
    isOut.current = true
    setSending(true)
    setFailure(null)
    try {
      await onAnswer(reply)
      forgetDraft(id)
    } catch (error) {
      setFailure(failedOf(error))
    } finally {
      isOut.current = false
      setSending(false)
    }
  }

  return { send, isSending, failure }
}
