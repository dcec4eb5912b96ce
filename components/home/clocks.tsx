import { SETTINGS, type SettingKey } from '#lib/model/settings'
import { quantity } from '../shell/quantity'
import styles from './home.module.css'

const SHOWN = ['default_lease_seconds', 'interrupt_lease_ttl_seconds', 'max_attempts'] as const satisfies SettingKey[]

/** The figures that decide when work comes back, as they are in force. */
export function Clocks({ values }: { values: Record<SettingKey, { value: number }> }) {
  return (
    <dl className={styles.clocks}>
      {SHOWN.map((key) => {
        const { value } = values[key]
        return (
          <div key={key} className={styles.clock}>
            <dd>
              {quantity(SETTINGS[key], value)}
              <span className={styles.source}>{value === SETTINGS[key].default ? 'default' : 'changed'}</span>
            </dd>
            <dt>
              <strong>{SETTINGS[key].label}.</strong> {SETTINGS[key].description}
            </dt>
          </div>
        )
      })}
    </dl>
  )
}
