'use client'

import { IconLayoutKanban } from '@tabler/icons-react'
import { Acts } from './acts'
import { HeadingsFrom } from './heading'
import { PlaceLink } from './place-link'
import styles from './todo-frame.module.css'
import { TodoView } from './todo-view'

/** A todo on a page of its own. */
export function TodoPage({ id }: { id: string }) {
  return (
    <div className={styles.page}>
      <HeadingsFrom value={1}>
        <TodoView
          id={id}
          extra={<PlaceLink href={`/board?todo=${id}`} label="Show on the board" Icon={IconLayoutKanban} />}
        />
      </HeadingsFrom>
      <Acts />
    </div>
  )
}
