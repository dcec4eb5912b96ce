import { beforeEach, describe, expect, test } from 'vitest'
import { findInvitation, inviteFirstAdmin } from '#lib/auth/invitations'
import { hasAdmin } from '#lib/auth/people'
import { database } from '../support/database'
import { browse, PASSWORD, signIn, somebody } from '../support/people'
import { site } from '../support/site'

const { db, sql, url: databaseUrl } = database()
const here = site(databaseUrl)

beforeEach(async () => {
  await sql`DELETE FROM people`
  await sql`DELETE FROM invitations`
})

const ADA = { name: 'Ada', email: 'ada@example.test', password: PASSWORD }

const accept = (token: string, said: object = ADA) =>
  browse(`${here.url}/api/v1/invitations/accept`, 'POST', { json: { token, ...said }, headers: { origin: here.url } })

const invited = async () => (await inviteFirstAdmin(db)) as string

describe('the first admin’s link', () => {
  test('makes an admin who signs in, once; looking at it any number of times uses nothing up', async () => {
    const token = await invited()
    for (let n = 0; n < 3; n++) expect(await findInvitation(db, token)).toMatchObject({ role: 'admin' })
    const made = await accept(token)
    expect(made).toMatchObject({
      status: 201,
      body: { person: { name: 'Ada', email: 'ada@example.test', role: 'admin' } },
    })
    expect(await accept(token, { ...ADA, email: 'eve@example.test' })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    })
    expect(await findInvitation(db, token)).toBeNull()
    expect((await signIn(here.url, ADA.email)).body.person.role).toBe('admin')
    expect(await sql`SELECT email FROM people`).toEqual([{ email: ADA.email }])
  })

  test('is void as soon as another is made', async () => {
    const [first, second] = [await invited(), await invited()]
    expect(await findInvitation(db, first)).toBeNull()
    expect((await accept(first)).status).toBe(404)
    expect((await accept(second)).status).toBe(201)
  })

  test('of two processes that start at once only one stays', async () => {
    const tokens = await Promise.all(Array.from({ length: 6 }, invited))
    const good = await Promise.all(tokens.map((token) => findInvitation(db, token)))
    expect(good.filter((found) => found !== null)).toHaveLength(1)
  })

  test('used by two at once makes one person', async () => {
    const token = await invited()
    const all = await Promise.all(
      Array.from({ length: 4 }, (_, n) => accept(token, { ...ADA, email: `ada-${n}@example.test` })),
    )
    expect(all.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404])
    expect(await sql`SELECT role FROM people`).toEqual([{ role: 'admin' }])
  })

  test('is not made, and works no more, while there is an admin', async () => {
    const token = await invited()
    await somebody(db, 'operator')
    expect(await findInvitation(db, token)).not.toBeNull()
    await somebody(db, 'admin')
    expect(await findInvitation(db, token)).toBeNull()
    expect((await accept(token)).status).toBe(404)
    expect(await inviteFirstAdmin(db)).toBeNull()
    expect(await hasAdmin(db)).toBe(true)
  })

  test('works for a day', async () => {
    const token = await invited()
    await sql`UPDATE invitations SET expires_at = now() + interval '1 second'`
    expect(await findInvitation(db, token)).not.toBeNull()
    await sql`UPDATE invitations SET expires_at = now()`
    expect(await findInvitation(db, token)).toBeNull()
    expect((await accept(token)).status).toBe(404)
  })

  test('is kept as a hash alone', async () => {
    const token = await invited()
    const [row] = await sql<{ text: string }>`SELECT i::text AS text FROM invitations i`
    expect(row?.text).not.toContain(token)
  })
})

describe('who accepts', () => {
  test('is told what is wrong with which field, and may try again', async () => {
    const token = await invited()
    const wrong: [object, string][] = [
      [{ ...ADA, password: 'short' }, '/password'],
      [{ ...ADA, password: 'x'.repeat(201) }, '/password'],
      [{ ...ADA, email: 'ada' }, '/email'],
      [{ ...ADA, name: '  ' }, '/name'],
      [{ ...ADA, name: 'Ada\u202egpj.exe' }, '/name'],
      [{ ...ADA, role: 'viewer' }, '/role'],
    ]
    for (const [said, pointer] of wrong) {
      expect(await accept(token, said)).toMatchObject({ status: 422, body: { errors: [{ pointer }] } })
    }
    expect((await accept(token)).status).toBe(201)
  })

  test('with an address that is taken gets nothing, and the link stays good', async () => {
    const { email } = await somebody(db, 'viewer')
    const token = await invited()
    const taken = await accept(token, { ...ADA, email: email.toUpperCase() })
    expect(taken).toMatchObject({ status: 422, body: { errors: [{ pointer: '/email' }] } })
    expect(await sql`SELECT used_at FROM invitations`).toEqual([{ used_at: null }])
    expect((await accept(token)).status).toBe(201)
  })

  test('without the token gets nothing', async () => {
    await invited()
    for (const token of ['x', 'A'.repeat(43)]) expect((await accept(token)).status).toBe(404)
    expect((await accept('')).status).toBe(422)
  })
})
