import { Light } from '../board/lamp'
import styles from './health.module.css'

/** One thing that must be well: how it stands, in a few words, and what to do when it isn't. */
export interface Fact {
  name: string
  standing: 'good' | 'warning' | 'bad'
  fact: string
  advice?: string | undefined
}

const LIGHTS = {
  good: { shape: 'check', color: 'green', label: 'good' },
  warning: { shape: 'slow-blink', color: 'yellow', label: 'needs a look' },
  bad: { shape: 'cross', color: 'red', label: 'bad' },
} as const

const SUMMARY = { good: 'Everything works', warning: 'Working, but it needs a look', bad: 'Something is wrong' }

const worst = (facts: readonly Fact[]): Fact['standing'] =>
  facts.some(({ standing }) => standing === 'bad')
    ? 'bad'
    : facts.some(({ standing }) => standing === 'warning')
      ? 'warning'
      : 'good'

/** How the parts stand, the whole first; `checkedAt` is ISO 8601 in UTC. */
export function Health({ facts, checkedAt }: { facts: readonly Fact[]; checkedAt: string }) {
  return (
    <section className={styles.health} aria-labelledby="health">
      <header className={styles.head}>
        <h2 id="health" className={styles.title}>
          <span role="status">{SUMMARY[worst(facts)]}</span>
        </h2>
        <span className={styles.checked}>
          <time dateTime={checkedAt}>{checkedAt.slice(11, 19)}</time> UTC
        </span>
      </header>
      <dl className={styles.facts}>
        {facts.map(({ name, standing, fact, advice }) => (
          <div key={name} className={styles.fact}>
            <dt>
              <Light {...LIGHTS[standing]} />
              {name}
            </dt>
            <dd>
              {fact}
              {advice && <span className={styles.advice}>{advice}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
