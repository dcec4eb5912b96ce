import type { ReactNode } from 'react'
import { Brand } from './brand'
import styles from './frame.module.css'
import { Menu } from './menu'
import { Rail } from './rail'

/** The frame of every page: the rail at the left, on a narrow screen a bar at the top that opens it. */
export function Frame({ version, children }: { version: string; children: ReactNode }) {
  return (
    <div className={styles.frame}>
      <a href="#content" className={styles.skip}>
        Skip to the content
      </a>
      <header className={styles.bar}>
        <Brand />
        <Menu>
          <Rail version={version} />
        </Menu>
      </header>
      <aside className={styles.rail} aria-label="Switchboard">
        <div className={styles.brand}>
          <Brand />
        </div>
        <Rail version={version} />
      </aside>
      <main id="content" className={styles.content} tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}
