'use client'

import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconCheck, IconLink, IconMessageQuestion } from '@tabler/icons-react'
import Link from 'next/link'
import { type ReactNode, useState } from 'react'
import { STATES } from '#lib/model/states'
import { cardOf } from '#lib/query/cache'
import { CALLS } from '#lib/query/client'
import type { Card, Todo } from '#lib/wire/todo'
import { Lamp } from '../board/lamp'
import { toneOf } from '../board/tone'
import { copyText } from '../shell/copy-text'
import { RelativeTime } from '../shell/relative-time'
import { Untrusted } from '../shell/untrusted'
import { ACTS, askFor, mayAs, possibleActs } from './acts-table'
import { Heading } from './heading'
import styles from './todo-view.module.css'
import { useRole } from './use-role'

const COPIED_MS = 1500

interface TodoHeaderProps {
  todo: Todo
  /** What it is a part of. */
  parent: Card | null
  extra: ReactNode
  /** Shows the questions, the open one among them. */
  toQuestions(): void
}

/** What a todo is, how it stands, and what can be done to it. */
export function TodoHeader({ todo, parent, extra, toQuestions }: TodoHeaderProps) {
  const role = useRole()
  return (
    <header className={styles.header} style={toneOf(todo.state)}>
      <div className={styles.top}>
        <span className={styles.state}>
          <Lamp state={todo.state} size={16} />
          {STATES[todo.state].label}
          <span className={styles.soft}>
            <RelativeTime at={todo.state_since} />
          </span>
        </span>
        <div className={styles.extra}>
          <CopyLink id={todo.id} />
          {extra}
        </div>
      </div>
      <Heading below={0} className={styles.title}>
        <Untrusted text={todo.title} />
      </Heading>
      <p className={styles.facts}>
        {todo.kind && (
          <>
            <Untrusted text={todo.kind} /> ·{' '}
          </>
        )}
        queue {todo.queue} · priority {todo.priority} · made <RelativeTime at={todo.created_at} />
        {todo.assignee && <> · for {todo.assignee}</>}
        {parent && (
          <>
            {' '}
            · part of{' '}
            <Link href={`/todos/${parent.id}`} className={styles.parent}>
              <Untrusted text={parent.title} />
            </Link>
          </>
        )}
        <span className={styles.id}>{todo.id}</span>
      </p>
      <div className={styles.acts}>
        {todo.open_interrupt_id && mayAs(role, CALLS.answerInterrupt.role) && (
          <Button size="xs" leftSection={<IconMessageQuestion size={15} aria-hidden />} onClick={toQuestions}>
            Answer
          </Button>
        )}
        {possibleActs(todo, role).map((name) => {
          const { label, Icon, isDangerous } = ACTS[name]
          return (
            <Button
              key={name}
              size="xs"
              variant="default"
              leftSection={<Icon size={15} aria-hidden />}
              className={isDangerous ? styles.dangerous : undefined}
              onClick={() => askFor(name, cardOf(todo))}
            >
              {label}
            </Button>
          )
        })}
      </div>
    </header>
  )
}

function CopyLink({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false)
  async function copy(): Promise<void> {
    setCopied(await copyText(`${window.location.origin}/todos/${id}`))
    setTimeout(() => setCopied(false), COPIED_MS)
  }
  const label = isCopied ? 'Copied' : 'Copy link'
  return (
    <Tooltip label={label} withArrow>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={() => void copy()}>
        {isCopied ? <IconCheck size={17} aria-hidden /> : <IconLink size={17} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  )
}
