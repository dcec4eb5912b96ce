import { beforeEach, describe, expect, test } from 'vitest'
import { startLive } from '#lib/live/live'
import { SETTINGS } from '#lib/model/settings'
import { expireInterrupts } from '#lib/queue/expire'
import { recentSettings } from '#lib/queue/settings'
import { startReaper } from '#worker/reaper'
import { database } from '../support/database'
import { given, now } from '../support/given'
import { browse, type Human, signedIn } from '../support/people'
import { PLAIN, serveAt, site } from '../support/site'

const { db, sql, url: databaseUrl } = database()
const here = site(databaseUrl)

let admin: Human

beforeEach(async () => {
  admin ??= await signedIn(db, here.url, 'admin')
  await sql`DELETE FROM settings`
})

const TTL = 'interrupt_lease_ttl_seconds'

const put = (key: string, value: string | null, version: number, by = admin) =>
  by.send('PUT', `/api/v1/settings/${key}`, { json: { value, version }, headers: { origin: here.url } })

const preview = async (value: number | string) =>
  (await admin.send('GET', `/api/v1/settings/${TTL}/preview?value=${value}`)).body

const read = async (key: string) =>
  (await admin.send('GET', '/api/v1/settings')).body.settings.find((setting: { key: string }) => setting.key === key)

describe('the settings', () => {
  test('are all there, with their defaults in force while there is no row', async () => {
    const { body } = await admin.send('GET', '/api/v1/settings')
    expect(body.settings.map(({ key }: { key: string }) => key)).toEqual(Object.keys(SETTINGS))
    expect(await read(TTL)).toEqual({
      key: TTL,
      value: null,
      effective: 86_400,
      default: 86_400,
      unit: 'seconds',
      minimum: 60,
      maximum: 315_360_000,
      off: true,
      label: SETTINGS[TTL].label,
      description: SETTINGS[TTL].description,
      updated_at: null,
      updated_by: null,
      version: 0,
    })
  })

  test.each(Object.keys(SETTINGS))(
    '%s is stored as given, by whom and when, and taken back to its default',
    async (key) => {
      const { minimum } = SETTINGS[key as keyof typeof SETTINGS]
      const text = String(minimum + 1)
      const stored = await put(key, text, 0)
      const by = `user:${admin.person.id}`
      const shown = { value: text, effective: minimum + 1, version: 1, updated_by: by, updated_at: expect.any(String) }
      expect(stored).toMatchObject({ status: 200, body: { setting: { key, ...shown } } })
      expect(await read(key)).toEqual(stored.body.setting)
      expect((await put(key, '007', 1)).body.setting).toMatchObject({ value: '007', version: 2 })
      expect((await put(key, null, 2)).body.setting).toMatchObject({ value: null, version: 0, updated_by: null })
      expect((await put(key, null, 0)).status).toBe(200)
      expect(
        await sql`SELECT actor, todo_id, data FROM todo_events WHERE verb = 'setting' AND data->>'key' = ${key} ORDER BY id`,
      ).toEqual(
        [
          { before: null, after: text, version: 1 },
          { before: text, after: '007', version: 2 },
          { before: '007', after: null, version: 0 },
        ].map((data) => ({ actor: by, todo_id: null, data: { key, ...data } })),
      )
    },
  )

  test('say what is wrong with a text that somebody stored by hand', async () => {
    await sql`INSERT INTO settings (key, value) VALUES (${TTL}, '2 h'), ('max_attempts', '0'), ('unheard_of', '1')`
    expect(await read(TTL)).toMatchObject({
      value: '2 h',
      effective: 86_400,
      problem: expect.stringContaining('not an integer'),
    })
    expect(await read('max_attempts')).toMatchObject({ value: '0', effective: 1, problem: 'raised to 1', version: 1 })
    expect(await read('unheard_of')).toBeUndefined()
    expect((await put(TTL, '7200', 1)).body.setting).toMatchObject({ effective: 7200, version: 2 })
  })

  test('take any whole number and say what is in force: off, raised or lowered', async () => {
    const stored = async (value: string, version: number) => (await put(TTL, value, version)).body.setting
    expect(await stored('0', 0)).toMatchObject({ value: '0', effective: 0 })
    expect(await stored('-5', 1)).toMatchObject({ value: '-5', effective: 0 })
    expect(await stored('59', 2)).toMatchObject({ value: '59', effective: 60, problem: 'raised to 60' })
    expect(await stored('9'.repeat(30), 3)).toMatchObject({ effective: 315_360_000, problem: 'lowered to 315360000' })
  })

  test.each(['1.5', '1e3', ' 60', '60 ', '', '2h', '٣٠', '+60', '--1', '0x10'])(
    'refuse %j with what to write instead',
    async (value) => {
      expect(await put(TTL, value, 0)).toMatchObject({
        status: 422,
        body: { errors: [{ pointer: '/value', message: expect.stringContaining('whole number') }] },
      })
      expect(
        (await admin.send('GET', `/api/v1/settings/${TTL}/preview?value=${encodeURIComponent(value)}`)).status,
      ).toBe(422)
      expect(await sql`SELECT 1 FROM settings`).toEqual([])
    },
  )

  test('refuse what there is not', async () => {
    expect((await put('unheard_of', '1', 0)).body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '{key}' }],
    })
    expect((await put(TTL, '60', -1)).status).toBe(422)
    expect((await put(TTL, '60', 3e9)).status).toBe(422)
  })

  test('are nothing to people below admins, nor to any endpoint', async () => {
    const operator = await signedIn(db, here.url, 'operator')
    expect(await put(TTL, '60', 0, operator)).toMatchObject({
      status: 403,
      body: { detail: 'This needs the role admin' },
    })
    expect(await sql`SELECT 1 FROM settings`).toEqual([])
  })
})

describe('of two who change a setting at once', () => {
  test('one is told what the other made of it, and nothing of theirs is lost', async () => {
    const other = await signedIn(db, here.url, 'admin')
    expect((await put(TTL, '7200', 0)).status).toBe(200)
    const conflict = { value: '7200', version: 1, updated_by: `user:${admin.person.id}` }
    for (const late of [
      await put(TTL, '3600', 0, other),
      await put(TTL, null, 0, other),
      await put(TTL, '1', 7, other),
    ]) {
      expect(late).toMatchObject({ status: 409, body: { code: 'version_conflict', ...conflict } })
    }
    await put(TTL, null, 1)
    expect((await put(TTL, '3600', 1, other)).body).toMatchObject({ code: 'version_conflict', value: null, version: 0 })
  })

  test('a setting taken back begins anew: its version is 0 again, and what it was before is refused', async () => {
    await put(TTL, '7200', 0)
    await put(TTL, '3600', 1)
    expect((await put(TTL, null, 2)).body.setting).toMatchObject({ value: null, version: 0 })
    expect(await read(TTL)).toMatchObject({ value: null, effective: 86_400, version: 0, updated_by: null })
    for (const version of [1, 2]) {
      for (const value of ['60', null]) {
        const stale = { code: 'version_conflict', value: null, version: 0 }
        expect(await put(TTL, value, version)).toMatchObject({ status: 409, body: stale })
      }
    }
    expect((await put(TTL, '60', 0)).body.setting).toMatchObject({ value: '60', version: 1 })
  })

  test('exactly one wins, however many there are', async () => {
    for (const version of [0, 1]) {
      const all = await Promise.all(Array.from({ length: 8 }, (_, n) => put(TTL, String(100 + n), version)))
      expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)])
    }
    expect(await sql`SELECT version FROM settings`).toEqual([{ version: 2 }])
  })
})

test('a change is in force at once in the process that made it', async () => {
  const { core, url, stop } = await serveAt(databaseUrl, PLAIN)
  try {
    const inForce = async () => (await recentSettings(core.database))[TTL].value
    expect(await inForce()).toBe(86_400)
    const json = { value: '7200', version: 0 }
    await browse(`${url}/api/v1/settings/${TTL}`, 'PUT', { json, headers: { origin: url, cookie: admin.cookie } })
    expect(await inForce()).toBe(7200)
  } finally {
    await stop()
  }
})

describe('the preview of retention', () => {
  const deletes = async (key: string, value: number) =>
    (await admin.send('GET', `/api/v1/settings/${key}/preview?value=${value}`)).body.deletes

  test('tells how many ended todos would go, by age and by number, and how many lose attempts', async () => {
    await sql`TRUNCATE todos, todo_attempts CASCADE`
    await sql`INSERT INTO todos (id, queue, title, state, max_attempts, lease_seconds, completed_at, attempts)
      SELECT 'ended-' || n, 'main', 'Ended', 'completed', 3, 300, now() - n * interval '1 day' - interval '1 h', n
      FROM generate_series(1, 20) n`
    await sql`ANALYZE todos`
    expect(await deletes('retention_max_age_days', 15)).toBe(6)
    expect(await deletes('retention_max_age_days', 0)).toBe(0)
    expect(await deletes('retention_max_rows', 12)).toBe(8)
    expect(await deletes('retention_max_rows', 20)).toBe(0)
    expect(await deletes('retention_max_rows', -1)).toBe(0)
    expect(await deletes('attempt_history_max_per_todo', 18)).toBe(2)
    expect(await deletes('attempt_history_max_per_todo', 1)).toBe(15)
    expect(await deletes('max_attempts', 1)).toBe(0)
    await sql`TRUNCATE todos CASCADE`
  })
})

describe('the preview', () => {
  beforeEach(() => sql`DELETE FROM todos`)

  const HOUR = 3600

  test('says what the next sweep then does, to the row', async () => {
    const asked = (seconds: number, more: object = {}) =>
      given(db, 'input-required', { ago: { interrupted_at: seconds }, ...more })
    const taken = [
      await asked(3 * HOUR),
      await asked(2 * HOUR + 1),
      await given(db, 'auth-required', { ago: { interrupted_at: 31 * HOUR } }),
    ]
    const dying = await asked(4 * HOUR, { leaseExpirations: 2 })
    await asked(HOUR)
    const given_more_time = await asked(5 * HOUR, { ago: { interrupted_at: 5 * HOUR, wait_until: -60 } })
    const time_is_over = await asked(5 * HOUR, { ago: { interrupted_at: 5 * HOUR, wait_until: 60 } })
    const parked = await asked(9 * HOUR)
    await sql`UPDATE todos SET owner = NULL, owner_endpoint_id = NULL, lease_expires_at = NULL WHERE id = ${parked.id}`
    await given(db, 'claimed', { leaseSeconds: 1234 })
    await given(db, 'canceled')

    const said = await preview(2 * HOUR)
    expect(said).toMatchObject({ effective: 2 * HOUR, reclaims: 5, dead_letters: 1, longest_lease_seconds: 1234 })
    expect(said.oldest_seconds).toBeGreaterThanOrEqual(31 * HOUR)
    expect(said.oldest_seconds).toBeLessThan(31 * HOUR + 60)
    expect((await now(db, dying.id)).state).toBe('input-required')

    const moved = await expireInterrupts(db, { ttlSeconds: 2 * HOUR })
    expect(moved).toHaveLength(said.reclaims)
    expect(moved.filter(({ todo }) => todo.state === 'failed')).toHaveLength(said.dead_letters)
    expect(new Set(moved.map(({ todo }) => todo.id))).toEqual(
      new Set([...taken, dying, time_is_over].map(({ id }) => id)),
    )
    expect((await now(db, given_more_time.id)).state).toBe('input-required')
    expect(await preview(2 * HOUR)).toMatchObject({ reclaims: 0, dead_letters: 0, oldest_seconds: null })
  })

  test('counts nothing for off, and what is in force for what is raised', async () => {
    await given(db, 'input-required', { ago: { interrupted_at: 61 } })
    expect(await preview(0)).toMatchObject({ effective: 0, reclaims: 0, oldest_seconds: null })
    expect(await preview(-1)).toMatchObject({ effective: 0, reclaims: 0 })
    expect(await preview(1)).toMatchObject({ effective: 60, problem: 'raised to 60', reclaims: 1 })
    expect(await preview(62)).toMatchObject({ effective: 62, reclaims: 0 })
    expect(await preview('9'.repeat(40))).toMatchObject({ effective: 315_360_000, reclaims: 0 })
    expect(await sql`SELECT 1 FROM settings`).toEqual([])
  })

  test('of a setting that touches no row says so', async () => {
    const { body } = await admin.send('GET', '/api/v1/settings/max_attempts/preview?value=5')
    expect(body).toEqual({
      effective: 5,
      reclaims: 0,
      dead_letters: 0,
      oldest_seconds: null,
      longest_lease_seconds: null,
      deletes: 0,
    })
  })
})

describe('the worker follows a change without a restart', () => {
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }

  test('a question 61 s old goes back within a second of 60 s being set, and none does once it is off', async () => {
    await sql`DELETE FROM todos`
    const live = await startLive(db)
    const reaper = startReaper(db, { live, log: quiet })
    try {
      await expect.poll(() => reaper.standing().lastTickAt).not.toBeNull()
      const { id } = await given(db, 'input-required', { ago: { interrupted_at: 61 } })
      const began = performance.now()
      expect((await put(TTL, '60', 0)).status).toBe(200)
      await expect.poll(async () => (await now(db, id)).state, { interval: 20, timeout: 5000 }).toBe('pending')
      expect(performance.now() - began).toBeLessThan(1000)
      await put(TTL, '0', 1)
      const ticked = reaper.standing().lastTickAt
      const kept = await given(db, 'input-required', { ago: { interrupted_at: 90 * 86_400 } })
      await expect.poll(() => reaper.standing().lastTickAt !== ticked, { timeout: 5000 }).toBe(true)
      expect((await now(db, kept.id)).state).toBe('input-required')
      await put(TTL, '60', 2)
      await expect.poll(async () => (await now(db, kept.id)).state, { interval: 20, timeout: 5000 }).toBe('pending')
    } finally {
      await reaper.stop()
      await live.stop()
    }
  })
})
