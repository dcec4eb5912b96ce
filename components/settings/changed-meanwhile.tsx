import { Alert, Button, Group } from '@mantine/core'
import type { SettingView } from '#lib/wire/setting'
import { Actor } from '../todo/actor'
import { inWords } from './amount'
import styles from './setting-field.module.css'

interface ChangedMeanwhileProps {
  setting: SettingView
  onTheirs(): void
  onMine(): void
}

/** Says that somebody else changed a setting while it was being edited, to what, and lets one choose. */
export function ChangedMeanwhile({ setting, onTheirs, onMine }: ChangedMeanwhileProps) {
  const { value, effective, updated_by } = setting
  return (
    <Alert color="yellow" variant="light" role="alert" mt="sm">
      <p className={styles.changed}>
        {updated_by ? <Actor actor={updated_by} /> : 'Somebody'} changed it meanwhile
        {value === null ? ', back to the default: ' : ' to '}
        <strong>{inWords(effective, setting)}</strong>.
      </p>
      <Group gap="xs" mt="xs">
        <Button size="xs" variant="default" onClick={onTheirs}>
          Take theirs
        </Button>
        <Button size="xs" variant="default" onClick={onMine}>
          Keep mine
        </Button>
      </Group>
    </Alert>
  )
}
