import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Prompt } from '#lib/query/prompts'
import { todoDetail } from '#lib/query/todos'
import { Questions } from '../todo/questions'
import styles from './prompt-pane.module.css'

/** What this question's todo asked before, with the answers; nothing when it asked nothing. */
export function Earlier({ prompt }: { prompt: Prompt }) {
  const { data } = useQuery(todoDetail(prompt.todo_id))
  const before = useMemo(
    () => data?.interrupts.filter(({ id, status }) => id !== prompt.id && status !== 'open') ?? [],
    [data, prompt.id],
  )
  if (before.length === 0) return null
  return (
    <section className={styles.earlier}>
      <h3>Asked before</h3>
      <Questions interrupts={before} />
    </section>
  )
}
