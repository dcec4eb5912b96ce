'use client'

import { Burger } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import dynamic from 'next/dynamic'
import { usePathname } from 'next/navigation'
import { type ReactNode, useEffect } from 'react'
import styles from './frame.module.css'

const MenuDrawer = dynamic(() => import('./menu-drawer'), { ssr: false })

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
      {isOpen && <MenuDrawer onClose={close}>{children}</MenuDrawer>}
    </>
  )
}
