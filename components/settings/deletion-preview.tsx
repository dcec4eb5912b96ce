import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { SETTINGS, type Setting, type SettingKey } from '#lib/model/settings'
import { previewOf } from '#lib/query/settings'
import { MOST_COUNTED, type Preview } from '#lib/wire/setting'
import styles from './setting-field.module.css'

const PAUSE_MS = 250

/** What the next round would delete were this stored: for good, so it is said before. */
export function DeletionPreview({ setting, text }: { setting: SettingKey; text: string }) {
  const [settled] = useDebouncedValue(text, PAUSE_MS)
  const { data, error, isPlaceholderData } = useQuery(previewOf(setting, settled))
  if (error) return <p className={styles.note}>What this would delete could not be found out: {error.message}</p>
  if (!data) return null
  return (
    <p
      className={styles.note}
      role="status"
      data-lit={data.deletes > 0 || undefined}
      data-old={settled !== text || isPlaceholderData || undefined}
    >
      {wouldDelete(data, SETTINGS[setting])}
    </p>
  )
}

function wouldDelete({ effective, deletes }: Preview, { off, deletes: what }: Setting): string {
  if (off && effective <= 0) return 'Off: this deletes nothing.'
  if (deletes === 0) return 'The next round would delete nothing for this.'
  const count = deletes < MOST_COUNTED ? deletes.toLocaleString('en') : `${MOST_COUNTED.toLocaleString('en')} or more`
  const todos = deletes === 1 ? 'todo' : 'todos'
  return what === 'attempts'
    ? `The next round would delete the oldest attempts of ${count} ${todos}, for good.`
    : `The next round would delete ${count} ended ${todos}, for good.`
}
