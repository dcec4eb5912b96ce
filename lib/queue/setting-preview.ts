import type { Db } from '#lib/db/connect'
import { readSetting, SETTINGS, type Setting, type SettingKey } from '#lib/model/settings'
import { INTERRUPTS } from '#lib/model/states'
import { MOST_COUNTED, type Preview } from '#lib/wire/setting'
import { overdue, type WaitTtls, wouldDie } from './expire'
import { literals } from './move'
import { boundByRows, countCrowded, countForgettable, laterBound } from './retention'

type Found = Pick<Preview, 'reclaims' | 'dead_letters' | 'oldest_seconds' | 'longest_lease_seconds'>

const NOTHING: Found = { reclaims: 0, dead_letters: 0, oldest_seconds: null, longest_lease_seconds: null }

/** What the next sweep, or the next round of retention, would do were this text stored. */
export async function previewSetting(db: Db, key: SettingKey, text: string): Promise<Preview> {
  const { value, problem } = readSetting(key, text)
  const { ends: wait, deletes }: Setting = SETTINGS[key]
  const found = wait ? await findOverdue(db, wait, value) : NOTHING
  const deleted = deletes ? await COUNT[deletes](db, value) : 0
  return { effective: value, ...(problem ? { problem } : {}), ...found, deletes: deleted }
}

/** How much the next round of retention would delete for such a setting alone. */
const COUNT: Record<NonNullable<Setting['deletes']>, (db: Db, value: number) => Promise<number>> = {
  aged: async (db, days) => countForgettable(db, await laterBound(db, days, null), MOST_COUNTED),
  surplus: async (db, rows) => countForgettable(db, await boundByRows(db, rows), MOST_COUNTED),
  attempts: (db, most) => countCrowded(db, most, MOST_COUNTED),
}

// Rows as the sweep picks them, by the same words; only those locked at the moment it takes later.
async function findOverdue(db: Db, wait: keyof WaitTtls, ttlSeconds: number): Promise<Found> {
  const interrupts = literals(INTERRUPTS)
  const [row] = await db.query<Found>({
    name: `preview_${wait}_ttl`,
    text: `WITH i AS (SELECT $1::bigint AS ttl_seconds),
      due AS (
        SELECT t.interrupted_at, ${wouldDie(wait)} AS dies FROM i CROSS JOIN todos t
        WHERE i.ttl_seconds > 0 AND t.state IN (${interrupts}) AND (${overdue(wait)}))
      SELECT (SELECT count(*) FROM due) AS reclaims, (SELECT count(*) FROM due WHERE dies) AS dead_letters,
        (SELECT extract(epoch FROM now() - min(interrupted_at))::float8 FROM due) AS oldest_seconds,
        (SELECT max(lease_seconds) FROM todos
          WHERE ${wait === 'held'} AND state IN ('claimed', ${interrupts}) AND owner IS NOT NULL) AS longest_lease_seconds`,
    values: [ttlSeconds],
  })
  return row ?? NOTHING
}
