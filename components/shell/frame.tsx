import type { ReactNode } from 'react'
import { Brand } from './brand'
import styles from './frame.module.css'
import { LostBanner } from './lost-banner'
import { Menu } from './menu'
import { OpenPrompts, TitleBadge } from './open-prompts'
import { PageKeys } from './page-keys'
import type { Person } from './person-card'
import { Rail } from './rail'

interface FrameProps {
  person: Person
  version: string
  children: ReactNode
}

/** The frame of people's pages: the rail at the left, on a narrow screen a bar at the top that opens it. */
export function Frame({ person, version, children }: FrameProps) {
  return (
    <div className={styles.frame}>
      <a href="#content" className={styles.skip}>
        Skip to the content
      </a>
      <header className={styles.bar}>
        <Brand />
        <Menu badge={<OpenPrompts />}>
          <Rail person={person} version={version} />
        </Menu>
      </header>
      <aside className={styles.rail} aria-label="Switchboard">
        <div className={styles.brand}>
          <Brand />
        </div>
        <Rail person={person} version={version} />
      </aside>
      <main id="content" className={styles.content} tabIndex={-1}>
        {children}
      </main>
      <LostBanner />
      <TitleBadge />
      <PageKeys role={person.role} />
    </div>
  )
}
