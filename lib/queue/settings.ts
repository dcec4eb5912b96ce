import type { Database, Db } from '#lib/db/connect'
import { type Effective, readSetting, SETTINGS, type SettingKey } from '#lib/model/settings'

const FRESH_MS = 1000
const caches = new WeakMap<Database, { readAt: number; values: Promise<Settings> }>()

/** The value in force of every setting, with what is wrong with a stored text. */
export type Settings = Record<SettingKey, Effective>

/** The settings in force now, read from the table. */
export async function readSettings(db: Db): Promise<Settings> {
  const rows = await db.query<{ key: string; value: string }>({ name: 'settings', text: 'SELECT key, value FROM settings' })
  const stored = new Map(rows.map((row) => [row.key, row.value]))
  const keys = Object.keys(SETTINGS) as SettingKey[]
  return Object.fromEntries(keys.map((key) => [key, readSetting(key, stored.get(key))])) as Settings
}

/** The settings in force, at most a second old: for verbs that need one at every call. */
export function recentSettings({ root }: Db): Promise<Settings> {
  const cached = caches.get(root)
  if (cached && performance.now() - cached.readAt < FRESH_MS) return cached.values
  const values = readSettings(root)
  caches.set(root, { readAt: performance.now(), values })
  values.catch(() => caches.delete(root))
  return values
}
