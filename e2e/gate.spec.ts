import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'playwright/test'
import { ROOT } from '#scripts/instance.mjs'

const PEOPLE = 'app/(people)'

/** The address of every page of people, as its folder has it. */
const paths = readdirSync(join(ROOT, PEOPLE), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('page.tsx'))
  .map((file) => `/${file.replace(/\/?page\.tsx$/, '').replaceAll(/\[\w+\]/g, '0192a000-0000-7000-8000-000000000000')}`)

const DOCUMENT = { accept: 'text/html' }
const RSC = { rsc: '1', accept: '*/*' }

test('no page of people answers a stranger with anything but the way to sign in', async ({ request }) => {
  expect(paths).toContain('/board')
  for (const path of ['/', ...paths, '/nothing']) {
    const document = await request.get(path, { headers: DOCUMENT, maxRedirects: 0 })
    expect({ path, status: document.status(), length: (await document.body()).length }).toEqual({
      path,
      status: 303,
      length: 0,
    })
    const next = path === '/' ? '' : `?next=${encodeURIComponent(path)}`
    expect(document.headers().location).toBe(`/sign-in${next}`)
    for (const headers of [RSC, { accept: '*/*' }]) {
      expect({ path, status: (await request.get(path, { headers, maxRedirects: 0 })).status() }).toEqual({
        path,
        status: 401,
      })
    }
    expect((await request.post(path, { maxRedirects: 0, headers: { 'next-action': 'x' } })).status()).toBe(401)
  }
})

test('signing in and a welcome are shown to everybody, with all they load', async ({ page }) => {
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`)
  })
  for (const path of ['/sign-in', '/welcome/not-an-invitation']) {
    expect((await page.goto(path))?.status()).toBe(200)
    await expect(page.locator('h1').first()).toBeVisible()
  }
  expect(refused).toEqual([])
})
