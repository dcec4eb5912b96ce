import styles from './pips.module.css'

const MOST_DRAWN = 6

/** How much of its allowance a todo has spent: a dot for each attempt it has, filled where one failed or was lost. */
export function Pips({ spent, of }: { spent: number; of: number }) {
  if (spent === 0) return null
  const label = `spent ${spent} of ${of}`
  if (of > MOST_DRAWN) return <span className={styles.text}>{label}</span>
  return (
    <span className={styles.pips} role="img" aria-label={label} title={label}>
      {Array.from({ length: of }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the dots have nothing but their place.
        <span key={index} className={styles.pip} data-spent={index < spent || undefined} />
      ))}
    </span>
  )
}
