'use client'

import { ActionIcon, Tooltip } from '@mantine/core'
import { IconLayoutKanban } from '@tabler/icons-react'
import Link from 'next/link'
import { Acts } from './acts'
import styles from './todo-page.module.css'
import { TodoView } from './todo-view'

/** A todo on a page of its own. */
export function TodoPage({ id }: { id: string }) {
  return (
    <div className={styles.page}>
      <TodoView
        id={id}
        extra={
          <Tooltip label="Show on the board" withArrow>
            <ActionIcon
              component={Link}
              href={`/board?todo=${id}`}
              variant="subtle"
              color="gray"
              aria-label="Show on the board"
            >
              <IconLayoutKanban size={17} aria-hidden />
            </ActionIcon>
          </Tooltip>
        }
      />
      <Acts />
    </div>
  )
}
