'use client'

import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { APPROVAL_VALIDITY } from '#lib/model/settings'
import { settings } from '#lib/query/settings'
import type { SettingView } from '#lib/wire/setting'
import { SettingField } from './setting-field'
import styles from './settings.module.css'

interface Section {
  id: string
  title: string
  help: string
  keys: readonly string[]
}

const SECTIONS: readonly Section[] = [
  {
    id: 'interrupts',
    title: 'Interrupts and reaper',
    help: 'When a question that nobody answers gives its todo back.',
    keys: ['interrupt_lease_ttl_seconds', 'parked_interrupt_ttl_seconds'],
  },
  {
    id: 'approvals',
    title: 'Approvals',
    help: 'How long after an approval is given what was approved may still begin.',
    keys: Object.values(APPROVAL_VALIDITY),
  },
  {
    id: 'queues',
    title: 'Queue defaults',
    help: 'What holds for a todo where neither it nor its queue says otherwise.',
    keys: ['max_attempts', 'default_lease_seconds'],
  },
  {
    id: 'retention',
    title: 'Retention',
    help: 'How long what has ended is kept. Whatever is live stays.',
    keys: ['retention_max_age_days', 'retention_max_rows', 'attempt_history_max_per_todo'],
  },
  { id: 'live', title: 'Live updates', help: 'How pages stay up to date.', keys: ['sse_retry_ms'] },
]

// A setting that no section names is a setting all the same.
const OTHERS: Section = { id: 'others', title: 'Others', help: '', keys: [] }

function inSections(all: readonly SettingView[]): { section: Section; shown: SettingView[] }[] {
  const named = new Set(SECTIONS.flatMap(({ keys }) => keys))
  return [...SECTIONS, OTHERS]
    .map((section) => ({
      section,
      shown: all.filter(({ key }) => (section === OTHERS ? !named.has(key) : section.keys.includes(key))),
    }))
    .filter(({ shown }) => shown.length > 0)
}

/** Every setting, each changed by itself; a change is in force everywhere within a second. */
export function Settings() {
  const { data, error, refetch } = useQuery(settings)
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>Settings</h1>
        <p>A change is in force in every process within a second, without a restart, and stays in the history.</p>
      </header>
      {!data && !error && <Skeleton height={240} />}
      {!data && error && (
        <div role="alert">
          <p>The settings could not be loaded: {error.message}</p>
          <Button variant="default" size="xs" onClick={() => void refetch()}>
            Try again
          </Button>
        </div>
      )}
      {data &&
        inSections(data).map(({ section, shown }) => (
          <section key={section.id} className={styles.section} aria-labelledby={`section-${section.id}`}>
            <header className={styles.sectionHead}>
              <h2 id={`section-${section.id}`}>{section.title}</h2>
              {section.help && <p>{section.help}</p>}
            </header>
            <div className={styles.fields}>
              {shown.map((setting) => (
                <SettingField key={setting.key} setting={setting} />
              ))}
            </div>
          </section>
        ))}
    </div>
  )
}
