import { ring } from '#lib/db/bell'
import type { Db } from '#lib/db/connect'
import { Refusal } from '#lib/model/errors'
import type { SettingKey } from '#lib/model/settings'
import { actorOf, type Caller } from '#lib/wire/caller'
import { forgetSettings } from './settings'

/** A setting's new text, or null for the default, and the version it replaces (0: there was no row). */
export interface SettingChange {
  value: string | null
  version: number
}

const CHANGE = {
  insert: `INSERT INTO settings (key, value, updated_by) VALUES ($1, $2, $4) ON CONFLICT (key) DO NOTHING
    RETURNING key, value, version`,
  update: `UPDATE settings SET value = $2, version = version + 1, updated_at = now(), updated_by = $4
    WHERE key = $1 AND version = $3 RETURNING key, value, version`,
  remove: `DELETE FROM settings WHERE key = $1 AND version = $3 RETURNING key, NULL::text AS value, 0 AS version`,
}

/**
 * Stores a setting's text as given, or removes it; logged, and in force in every process within a second. Refuses text
 * that is not an integer with validation_failed, and a version that is no longer the stored one with version_conflict.
 */
export async function putSetting(db: Db, key: SettingKey, change: SettingChange, caller: Caller): Promise<void> {
  const { value, version } = change
  if (value !== null && !/^-?[0-9]+$/.test(value)) throw notAnInteger()
  if (value === null && version === 0) return expectNone(db, key)
  const how = value === null ? 'remove' : version === 0 ? 'insert' : 'update'
  const changed = await db.query({
    name: `setting_${how}`,
    text: `WITH given AS (SELECT $1::text, $2::text, $3::integer, $4::text),
      before AS (SELECT value FROM settings WHERE key = $1),
      changed AS (${CHANGE[how]})
      INSERT INTO todo_events (verb, actor, data)
      SELECT 'setting', $4, jsonb_build_object('key', key, 'before', (SELECT value FROM before), 'after', value, 'version', version)
      FROM changed RETURNING id`,
    values: [key, value, version, actorOf(caller)],
  })
  if (changed.length === 0) throw await conflict(db, key)
  db.afterCommit(() => {
    forgetSettings(db)
    ring(db.root, 'log')
  })
}

const notAnInteger = (): Refusal =>
  new Refusal('validation_failed', { errors: [{ pointer: '/value', message: 'must be a whole number' }] })

async function expectNone(db: Db, key: SettingKey): Promise<void> {
  const [row] = await db.query({ text: 'SELECT 1 FROM settings WHERE key = $1', values: [key] })
  if (row) throw await conflict(db, key)
}

async function conflict(db: Db, key: SettingKey): Promise<Refusal> {
  const text = 'SELECT value, version, updated_by FROM settings WHERE key = $1'
  const [row] = await db.query<{ value: string; version: number; updated_by: string | null }>({ text, values: [key] })
  const now = row ?? { value: null, version: 0, updated_by: null }
  return new Refusal('version_conflict', { detail: 'Somebody changed this setting meanwhile', ...now })
}
