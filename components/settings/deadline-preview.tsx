import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { SettingKey } from '#lib/model/settings'
import { previewOf } from '#lib/query/settings'
import type { Preview } from '#lib/wire/setting'
import { timeSpan } from '../shell/time-span'
import { inWords } from './amount'
import styles from './setting-field.module.css'

const PAUSE_MS = 250
const EVERY_MS = 5_000
const SECONDS = { unit: 'seconds', off: true } as const

interface DeadlinePreviewProps {
  setting: SettingKey
  text: string
  isDirty: boolean
}

/** What the next sweep would do were this the deadline of such waits, as it is now; of the value in force only its dangers. */
export function DeadlinePreview({ setting, text, isDirty }: DeadlinePreviewProps) {
  const [settled] = useDebouncedValue(text, PAUSE_MS)
  const { data, error, isPlaceholderData } = useQuery({
    ...previewOf(setting, settled),
    refetchInterval: EVERY_MS,
  })
  const isOld = settled !== text || isPlaceholderData
  if (error) return <Note>What this would do could not be found out: {error.message}</Note>
  if (!data) return null
  return (
    <div className={styles.preview} role="status" data-old={isOld || undefined}>
      {isDirty && <Would preview={data} text={settled} />}
      <Danger preview={data} />
    </div>
  )
}

function Would({ preview, text }: { preview: Preview; text: string }) {
  const { effective, reclaims, dead_letters, oldest_seconds } = preview
  if (effective <= 0) return <Note>Off: questions wait for ever, and no sweep takes one back.</Note>
  return (
    <>
      {String(effective) !== text && (
        <Note>
          {Number(text) < effective ? 'Raised' : 'Lowered'} to {inWords(effective, SECONDS)}, which will be in force.
        </Note>
      )}
      <Note isLit={reclaims > 0}>
        {reclaims === 0 ? (
          'The next sweep would take back nothing.'
        ) : (
          <>
            The next sweep would take back{' '}
            <strong>
              {reclaims.toLocaleString('en')} {reclaims === 1 ? 'wait' : 'waits'}
            </strong>
            {dead_letters > 0 && ` (${dead_letters.toLocaleString('en')} of them for good)`}
            {oldest_seconds !== null && `; the oldest has waited ${timeSpan(oldest_seconds)}`}.
          </>
        )}
      </Note>
    </>
  )
}

function Danger({ preview: { effective, longest_lease_seconds: lease } }: { preview: Preview }) {
  if (effective <= 0 || lease === null || lease <= effective) return null
  return (
    <Note isLit>
      Shorter than the longest lease now granted ({inWords(lease, SECONDS)}): a worker that is alive could lose its
      wait.
    </Note>
  )
}

const Note = ({ children, isLit = false }: { children: ReactNode; isLit?: boolean }) => (
  <p className={styles.note} data-lit={isLit || undefined}>
    {children}
  </p>
)
