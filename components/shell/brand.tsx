import styles from './brand.module.css'

/** The mark (four lamps, of which one is lit) and the name. */
export function Brand() {
  return (
    <span className={styles.brand}>
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <g fill="none" stroke="currentColor" strokeWidth="1.75">
          <circle cx="5" cy="5" r="3.25" />
          <circle cx="5" cy="15" r="3.25" />
          <circle cx="15" cy="15" r="3.25" />
        </g>
        <circle cx="15" cy="5" r="4.1" className={styles.lit} />
      </svg>
      Switchboard
    </span>
  )
}
