import { Badge } from '@mantine/core'
import type { SettingView } from '#lib/wire/setting'
import { RelativeTime } from '../shell/relative-time'
import { Untrusted } from '../shell/untrusted'
import { Actor } from '../todo/actor'
import { inWords } from './amount'
import styles from './setting-field.module.css'

/** The value in force, where it comes from, and who put it there. */
export function InForce({ setting }: { setting: SettingView }) {
  const { effective, problem, updated_at, updated_by, value } = setting
  return (
    <div className={styles.force}>
      <p>
        In force: <strong>{inWords(effective, setting)}</strong>
        <Source setting={setting} />
      </p>
      {problem && (
        <p className={styles.problem}>
          Stored is <Untrusted text={value ?? ''} />: {isUnreadable(setting) ? 'not a whole number' : problem}.
        </p>
      )}
      {updated_at && value !== null && (
        <p className={styles.by}>
          Changed <RelativeTime at={updated_at} /> by{' '}
          {updated_by ? <Actor actor={updated_by} /> : 'hand, in the database'}
        </p>
      )}
    </div>
  )
}

const isUnreadable = ({ value }: SettingView): boolean => value !== null && !/^-?\d+$/.test(value)

function Source({ setting }: { setting: SettingView }) {
  const { value, off, effective } = setting
  const source =
    value === null
      ? { text: 'default', color: 'gray' }
      : isUnreadable(setting)
        ? { text: 'stored text could not be read: default in force', color: 'red' }
        : off && effective <= 0
          ? { text: 'off', color: 'yellow' }
          : { text: 'override', color: 'blue' }
  return (
    <Badge component="span" className={styles.source} size="sm" variant="light" color={source.color}>
      {source.text}
    </Badge>
  )
}
