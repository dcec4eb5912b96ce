import { Badge, Button } from '@mantine/core'
import type { MouseEvent } from 'react'
import type { Prompt } from '#lib/query/prompts'
import { Lamp } from '../board/lamp'
import { Untrusted } from '../shell/untrusted'
import { TimeLeft } from './deadline'
import styles from './prompt-list.module.css'
import { promptPath } from './use-chosen'

interface PromptListProps {
  prompts: readonly Prompt[]
  chosenId: string | null
  choose(id: string): void
  /** Null: there are no more. */
  more: { load(): void; isLoading: boolean } | null
}

/** Open questions, one line each: who asks, what, how much hangs on it, and how long it waits still. */
export function PromptList({ prompts, chosenId, choose, more }: PromptListProps) {
  return (
    <>
      <ul className={styles.list}>
        {prompts.map((prompt) => (
          <li key={prompt.id}>
            <Row prompt={prompt} isChosen={prompt.id === chosenId} choose={choose} />
          </li>
        ))}
      </ul>
      {more && (
        <Button className={styles.more} variant="default" size="xs" loading={more.isLoading} onClick={more.load}>
          Show more
        </Button>
      )}
    </>
  )
}

// What an answer sets off, where that is more than words.
const KINDS = { input: null, auth: 'Sign-in · ', approval: 'Approval · ' } as const

interface RowProps extends Pick<PromptListProps, 'choose'> {
  prompt: Prompt
  isChosen: boolean
}

function Row({ prompt, isChosen, choose }: RowProps) {
  const { id, title, todo, risk, kind } = prompt

  function clicked(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    choose(id)
  }

  return (
    <a href={promptPath(id)} className={styles.row} aria-current={isChosen ? 'true' : undefined} onClick={clicked}>
      <span className={styles.lamp}>
        <Lamp state={todo.state} />
      </span>
      <span className={styles.what}>
        <span className={styles.title}>
          <Untrusted text={title} />
        </span>
        <span className={styles.who}>
          {KINDS[kind]}
          <Untrusted text={workerOf(prompt)} /> · {todo.queue}
          {todo.owner === null && ' · parked'}
        </span>
      </span>
      <span className={styles.end}>
        <TimeLeft prompt={prompt} className={styles.left} />
        {(risk === 'high' || risk === 'critical') && (
          <Badge size="xs" variant={risk === 'critical' ? 'filled' : 'light'} color="red">
            {risk}
          </Badge>
        )}
      </span>
    </a>
  )
}

/** The worker that asks, or that asked and let go. */
export const workerOf = ({ todo, asked_by }: Prompt): string => asked_by ?? todo.owner ?? 'a worker'
