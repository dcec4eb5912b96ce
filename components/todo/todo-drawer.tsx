'use client'

import { ActionIcon, Drawer } from '@mantine/core'
import { IconArrowsDiagonal, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useNarrow } from '../shell/use-narrow'
import { PlaceLink } from './place-link'
import styles from './todo-frame.module.css'
import { TodoView } from './todo-view'

/** A todo beside the board, on a narrow screen a sheet over it; closed without an id. The focus is left for the board to place. */
export default function TodoDrawer({ id, onClose }: { id: string | null; onClose: () => void }) {
  const isNarrow = useNarrow()
  // While it slides out it shows what it showed.
  const [shownId, setShownId] = useState(id)
  if (id !== null && id !== shownId) setShownId(id)
  return (
    <Drawer
      opened={id !== null}
      onClose={onClose}
      position={isNarrow ? 'bottom' : 'right'}
      size={isNarrow ? '92%' : 'min(44rem, 92vw)'}
      withCloseButton={false}
      lockScroll={false}
      returnFocus={false}
      overlayProps={{ backgroundOpacity: isNarrow ? 0.35 : 0.12 }}
      transitionProps={{ duration: 160 }}
      classNames={{ content: styles.drawer, body: styles.body }}
      aria-label="Todo"
    >
      {shownId && (
        <TodoView
          key={shownId}
          id={shownId}
          extra={
            <>
              <PlaceLink href={`/todos/${shownId}`} label="Open as a page" Icon={IconArrowsDiagonal} />
              <ActionIcon variant="subtle" color="gray" aria-label="Close" onClick={onClose} data-autofocus>
                <IconX size={18} aria-hidden />
              </ActionIcon>
            </>
          }
        />
      )}
    </Drawer>
  )
}
