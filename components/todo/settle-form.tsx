'use client'

import { Button, Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { settleEffect } from '#lib/query/todo-acts'
import type { Effect } from '#lib/wire/effect'
import type { Todo } from '#lib/wire/todo'
import { toast } from '../shell/toast'
import { shown } from '../shell/untrusted'
import boxes from './boxes.module.css'
import styles from './effects.module.css'

const LONGEST_COMMENT = 10_000

interface SettleFormProps {
  effect: Effect
  todo: Todo
  /** Whether the worker that began it may still tell. */
  isUnderWay: boolean
}

/** A person says whether an effect happened, and how they know. */
export function SettleForm({ effect, todo, isUnderWay }: SettleFormProps) {
  const [comment, setComment] = useState('')
  const settle = useMutation(settleEffect)
  const say = (status: 'happened' | 'did_not_happen') =>
    settle.mutate(
      { id: todo.id, key: effect.key, status, comment: comment.trim() },
      {
        onSuccess: () =>
          toast({
            title: status === 'happened' ? 'Kept as done' : 'Kept as not done',
            message: shown(effect.key),
            tone: 'good',
          }),
      },
    )
  const isUnable = comment.trim() === '' || settle.isPending
  return (
    <div className={styles.settle}>
      <p className={boxes.facts}>
        {isUnderWay
          ? 'Its worker still has the todo and will say how it went; its word beats yours.'
          : effect.idempotent
            ? 'The next worker does it again unless you know that it happened.'
            : 'Nobody knows whether it happened, and no worker does it again before somebody has looked.'}
      </p>
      <Textarea
        label="How do you know?"
        autosize
        minRows={1}
        maxRows={8}
        maxLength={LONGEST_COMMENT}
        value={comment}
        onChange={({ currentTarget }) => setComment(currentTarget.value)}
      />
      {settle.error && (
        <p className={styles.error} role="alert">
          {settle.error.message}
        </p>
      )}
      <div className={styles.buttons}>
        <Button size="xs" disabled={isUnable} onClick={() => say('happened')}>
          It happened
        </Button>
        <Button size="xs" variant="default" disabled={isUnable} onClick={() => say('did_not_happen')}>
          It did not happen
        </Button>
      </div>
    </div>
  )
}
