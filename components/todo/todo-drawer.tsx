'use client'

import { ActionIcon, Drawer, Tooltip } from '@mantine/core'
import { IconArrowsDiagonal, IconX } from '@tabler/icons-react'
import Link from 'next/link'
import { useNarrow } from '../shell/use-narrow'
import styles from './todo-drawer.module.css'
import { TodoView } from './todo-view'

/** A todo beside the board; on a narrow screen a sheet over it. */
export default function TodoDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const isNarrow = useNarrow()
  return (
    <Drawer
      opened
      onClose={onClose}
      position={isNarrow ? 'bottom' : 'right'}
      size={isNarrow ? '92%' : 'min(44rem, 92vw)'}
      withCloseButton={false}
      lockScroll={false}
      overlayProps={{ backgroundOpacity: isNarrow ? 0.35 : 0.12 }}
      transitionProps={{ duration: 160 }}
      classNames={{ content: styles.content, body: styles.body }}
      aria-label="Todo"
    >
      <TodoView
        key={id}
        id={id}
        extra={
          <>
            <Tooltip label="Open as a page" withArrow>
              <ActionIcon
                component={Link}
                href={`/todos/${id}`}
                variant="subtle"
                color="gray"
                aria-label="Open as a page"
              >
                <IconArrowsDiagonal size={17} aria-hidden />
              </ActionIcon>
            </Tooltip>
            <ActionIcon variant="subtle" color="gray" aria-label="Close" onClick={onClose} data-autofocus>
              <IconX size={18} aria-hidden />
            </ActionIcon>
          </>
        }
      />
    </Drawer>
  )
}
