import type { Db } from '#lib/db/connect'
import { readSetting, SETTINGS, type Setting, type SettingKey } from '#lib/model/settings'
import type { SettingView } from '#lib/wire/setting'

interface Row {
  key: string
  value: string
  version: number
  updated_at: string
  updated_by: string | null
}

/** Every setting there is, as stored and as in force, in the order of SETTINGS. */
export async function listSettings(db: Db): Promise<SettingView[]> {
  const rows = await db.query<Row>({
    name: 'list_settings',
    text: 'SELECT key, value, version, updated_at, updated_by FROM settings',
  })
  const stored = new Map(rows.map((row) => [row.key, row]))
  return (Object.keys(SETTINGS) as SettingKey[]).map((key) => viewOf(key, stored.get(key)))
}

/** One setting likewise. */
export async function readSettingView(db: Db, key: SettingKey): Promise<SettingView> {
  const [row] = await db.query<Row>({
    name: 'setting_view',
    text: 'SELECT key, value, version, updated_at, updated_by FROM settings WHERE key = $1',
    values: [key],
  })
  return viewOf(key, row)
}

function viewOf(key: SettingKey, row: Row | undefined): SettingView {
  const { unit, default: byDefault, minimum, maximum, off = false, label, description }: Setting = SETTINGS[key]
  const { value: effective, problem } = readSetting(key, row?.value)
  return {
    key,
    value: row?.value ?? null,
    effective,
    default: byDefault,
    unit,
    minimum,
    maximum,
    off,
    label,
    description,
    ...(problem ? { problem } : {}),
    updated_at: row?.updated_at ?? null,
    updated_by: row?.updated_by ?? null,
    version: row?.version ?? 0,
  }
}
