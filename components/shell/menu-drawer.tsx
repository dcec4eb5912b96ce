import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { Brand } from './brand'
import styles from './frame.module.css'

/** The rail as a drawer, for narrow screens. */
export default function MenuDrawer({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <Drawer opened onClose={onClose} size={280} title={<Brand />} closeButtonProps={{ 'aria-label': 'Close the menu' }}>
      <div className={styles.drawer}>{children}</div>
    </Drawer>
  )
}
