import type { Db } from '#lib/db/connect'
import { type Effective, readSetting, SETTINGS, type SettingKey } from '#lib/model/settings'
import { recently } from './recent'

/** The value in force of every setting, with what is wrong with a stored text. */
export type Settings = Record<SettingKey, Effective>

/** The settings in force now, read from the table. */
export async function readSettings(db: Db): Promise<Settings> {
  const rows = await db.query<{ key: string; value: string }>({
    name: 'settings',
    text: 'SELECT key, value FROM settings',
  })
  const stored = new Map(rows.map((row) => [row.key, row.value]))
  const keys = Object.keys(SETTINGS) as SettingKey[]
  return Object.fromEntries(keys.map((key) => [key, readSetting(key, stored.get(key))])) as Settings
}

/** The settings in force, at most a second old: for verbs that need one at every call. */
export const recentSettings = recently(readSettings)

/** Lets this process read the settings anew: one has been changed. */
export const forgetSettings = (db: Db): void => recentSettings.forget(db)
