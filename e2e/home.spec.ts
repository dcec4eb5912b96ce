import AxeBuilder from '@axe-core/playwright'
import { test as base, expect, type Page } from 'playwright/test'

/** A page on which an error in the console fails the test. */
const test = base.extend({
  page: async ({ page }, use) => {
    const errors: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text())
    })
    page.on('pageerror', (error) => errors.push(error.message))
    await use(page)
    expect(errors).toEqual([])
  },
})

const allWell = (page: Page) => expect(page.getByRole('status')).toHaveText('Everything works')

test('the first page says what this is and that all is well', async ({ page }) => {
  await page.goto('/')
  await expect(page).toHaveTitle('Switchboard')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await allWell(page)
  await expect(page.getByText(/^PostgreSQL \d+\.\d+, \d+\sms away$/)).toBeVisible()
  await expect(page.getByText(/^Swept \d+ s ago$/)).toBeVisible()
})

test('all nine lamps are explained, and blinking stops for those who want no motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.goto('/')
  const cells = page.getByRole('listitem').filter({ hasText: 'Moved on by' })
  await expect(cells).toHaveCount(9)
  const lamp = cells.filter({ hasText: 'Input required' }).locator('svg')
  await expect(lamp).not.toHaveCSS('animation-name', 'none')
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await expect(lamp).toHaveCSS('animation-name', 'none')
})

for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of [1440, 375]) {
    test(`it is accessible and fits, ${colorScheme} at ${width} px`, async ({ page }) => {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page.goto('/')
      await allWell(page)
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'])
        .analyze()
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    })
  }
}

test('it is dark before any script of ours has loaded, when the system is', async ({ page, browser }) => {
  const bare = await browser.newPage({ colorScheme: 'dark' })
  await bare.route('**/*.js', (route) => route.abort())
  await bare.goto(new URL('/', test.info().project.use.baseURL).href)
  await expect(bare.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
  const ground = () => bare.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const bareGround = await ground()
  await bare.close()
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto('/')
  await expect(page.locator('body')).toHaveCSS('background-color', bareGround)
})

test('it comes alive under a policy that lets no foreign script run', async ({ page }) => {
  const response = await page.goto('/')
  const policy = response?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("script-src 'self' 'nonce-")
  expect(policy.match(/script-src[^;]*/)?.[0]).not.toContain('unsafe')
  await page.getByRole('button', { name: 'Dark' }).click()
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
  await page.reload()
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
  await expect(page.getByRole('button', { name: 'Dark' })).toHaveAttribute('aria-pressed', 'true')
})

test('a snippet is copied as it stands', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto('/')
  await page.getByRole('button', { name: 'Copy: curl command that enqueues a todo' }).click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toMatch(/^curl "\$SWITCHBOARD_URL\/api\/v1\/todos" \\\n/)
})

test('on a narrow screen the rail opens from the bar, and closes again', async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 812 })
  await page.goto('/')
  await expect(page.getByRole('navigation', { name: 'Pages' })).toBeHidden()
  await page.getByRole('button', { name: 'Open the menu' }).click()
  await expect(page.getByRole('link', { name: 'Home' })).toHaveAttribute('aria-current', 'page')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('every link leads somewhere', async ({ page, request }) => {
  await page.goto('/')
  const links = await page.locator('a[href]').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
  for (const link of new Set(links)) expect((await request.get(link)).status(), link).toBe(200)
})

test('nobody behind a proxy sees it, and what is not there is not found', async ({ request }) => {
  const stranger = await request.get('/', { headers: { 'x-forwarded-for': '203.0.113.7' } })
  expect(stranger.status()).toBe(401)
  expect(await stranger.text()).not.toContain('Begin here')
  expect((await request.get('/no/such/page')).status()).toBe(404)
})
