import type { Db } from '#lib/db/connect'
import { readSetting, type SettingKey } from '#lib/model/settings'
import { INTERRUPTS } from '#lib/model/states'
import { OVERDUE_INTERRUPT, WOULD_DIE } from './expire'
import { literals } from './move'

/** What a setting's change would do to rows at once. */
export interface Preview {
  effective: number
  problem?: string
  /** Held questions that the next sweep would take back. */
  reclaims: number
  /** Of those, how many for good. */
  dead_letters: number
  /** How long the oldest of them has waited; null when there is none. */
  oldest_seconds: number | null
  /** The longest lease now granted: a shorter deadline could take a wait from a live holder. */
  longest_lease_seconds: number | null
}

/** What the next sweep would do were this text stored; only the interrupt deadline touches rows at once. */
export async function previewSetting(db: Db, key: SettingKey, text: string): Promise<Preview> {
  const { value, problem } = readSetting(key, text)
  const nothing = { reclaims: 0, dead_letters: 0, oldest_seconds: null, longest_lease_seconds: null }
  const found = key === 'interrupt_lease_ttl_seconds' ? await overdue(db, value) : nothing
  return { effective: value, ...(problem ? { problem } : {}), ...found }
}

async function overdue(db: Db, ttlSeconds: number): Promise<Omit<Preview, 'effective' | 'problem'>> {
  const [row] = await db.query<Omit<Preview, 'effective' | 'problem'>>({
    name: 'preview_interrupt_ttl',
    text: `WITH i AS (SELECT $1::bigint AS ttl_seconds),
      due AS (
        SELECT t.interrupted_at, ${WOULD_DIE} AS dies FROM i CROSS JOIN todos t
        WHERE i.ttl_seconds > 0 AND t.state IN (${literals(INTERRUPTS)}) AND (${OVERDUE_INTERRUPT}))
      SELECT (SELECT count(*) FROM due) AS reclaims, (SELECT count(*) FROM due WHERE dies) AS dead_letters,
        (SELECT extract(epoch FROM now() - min(interrupted_at))::float8 FROM due) AS oldest_seconds,
        (SELECT max(lease_seconds) FROM todos WHERE state = 'claimed') AS longest_lease_seconds`,
    values: [ttlSeconds],
  })
  return row as Omit<Preview, 'effective' | 'problem'>
}
