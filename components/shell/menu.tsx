'use client'

import { Burger, Drawer } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { usePathname } from 'next/navigation'
import { type ReactNode, useEffect } from 'react'
import { Brand } from './brand'
import styles from './frame.module.css'

/** The rail behind a button, for narrow screens, with a badge before it; going to a page closes it. */
export function Menu({ badge, children }: { badge: ReactNode; children: ReactNode }) {
  const [isOpen, { open, close }] = useDisclosure(false)
  const path = usePathname()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is what closes it.
  useEffect(close, [path])
  return (
    <>
      <span className={styles.toMenu}>
        {badge}
        <Burger opened={isOpen} onClick={open} size="sm" aria-label="Open the menu" aria-haspopup="dialog" />
      </span>
      <Drawer
        opened={isOpen}
        onClose={close}
        size={280}
        title={<Brand />}
        closeButtonProps={{ 'aria-label': 'Close the menu' }}
      >
        <div className={styles.drawer}>{children}</div>
      </Drawer>
    </>
  )
}
