import type { SettingKey } from '#lib/model/settings'
import { LampPanel } from '../board/lamp-panel'
import { Clocks } from './clocks'
import { FirstSteps } from './first-steps'
import { type Fact, Health } from './health'
import styles from './home.module.css'

/** What the first page shows; no settings when the database could not be asked. */
export interface HomeFacts {
  facts: readonly Fact[]
  checkedAt: string
  settings: Record<SettingKey, { value: number }> | null
}

/** The first page: what this is, whether it is well, what the lamps mean, and how to begin. It shows no todo. */
export function Home({ facts, checkedAt, settings }: HomeFacts) {
  return (
    <div className={styles.home}>
      <div className={styles.intro}>
        <div>
          <h1 className={styles.headline}>Work that outlives its worker.</h1>
          <p className={styles.lead}>
            Switchboard keeps todos for AI agents and background workers. A worker claims one under a lease, asks a
            person when it must, and finishes it. When a worker dies, its lease runs out and the todo goes back to the
            queue by itself.
          </p>
        </div>
        <Health facts={facts} checkedAt={checkedAt} />
      </div>
      <section aria-labelledby="lamps">
        <div className={styles.heading}>
          <h2 id="lamps">The lamps</h2>
          <p>The nine states a todo can be in.</p>
        </div>
        <LampPanel />
        {settings && <Clocks values={settings} />}
      </section>
      <section aria-labelledby="steps">
        <div className={styles.heading}>
          <h2 id="steps">Begin here</h2>
          <p>In a terminal, in the folder Switchboard runs from.</p>
        </div>
        <FirstSteps />
      </section>
    </div>
  )
}
