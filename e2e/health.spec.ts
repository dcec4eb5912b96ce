import { expect, type Page } from 'playwright/test'
import { test } from './site'

const allWell = (page: Page) => expect(page.getByText('Everything works', { exact: true })).toBeVisible()

test('the health page says that all is well, and how it knows', async ({ site }) => {
  const page = await site.pageOf('viewer')
  await page.goto('/health')
  await expect(page).toHaveTitle(/Switchboard$/)
  await allWell(page)
  await expect(page.getByText(/^PostgreSQL \d+\.\d+, \d+\sms away$/)).toBeVisible()
  await expect(page.getByText(/^Swept \d+ s ago$/)).toBeVisible()
})

test('all nine lamps are explained, and blinking stops for those who want no motion', async ({ site }) => {
  const page = await site.pageOf('viewer')
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.goto('/health')
  const cells = page.getByRole('listitem').filter({ hasText: 'Moved on by' })
  await expect(cells).toHaveCount(9)
  const lamp = cells.filter({ hasText: 'Input required' }).locator('svg')
  await expect(lamp).not.toHaveCSS('animation-name', 'none')
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await expect(lamp).toHaveCSS('animation-name', 'none')
})

test('it is dark before any script of ours has loaded, when the system is', async ({ site }) => {
  const bare = await site.pageOf('viewer', { colorScheme: 'dark' })
  await bare.route('**/*.js', (route) => route.abort())
  await bare.goto('/health')
  await expect(bare.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
})

test('it comes alive under a policy that lets no foreign script run', async ({ site }) => {
  const page = await site.pageOf('viewer')
  const response = await page.goto('/health')
  const policy = response?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("script-src 'self' 'nonce-")
  expect(policy.match(/script-src[^;]*/)?.[0]).not.toContain('unsafe')
  await page.getByRole('button', { name: 'Dark' }).click()
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
  await page.reload()
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
  await expect(page.getByRole('button', { name: 'Dark' })).toHaveAttribute('aria-pressed', 'true')
})

test('a snippet is copied as it stands', async ({ site }) => {
  const page = await site.pageOf('viewer', { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto('/health')
  await page.getByRole('button', { name: 'Copy: curl command that enqueues a todo' }).click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toMatch(/^curl "\$SWITCHBOARD_URL\/api\/v1\/todos" \\\n/)
})

test('on a narrow screen the rail opens from the bar, and closes again', async ({ site }) => {
  const page = await site.pageOf('viewer', { viewport: { width: 375, height: 812 } })
  await page.goto('/health')
  await expect(page.getByRole('navigation', { name: 'Pages' })).toBeHidden()
  await page.getByRole('button', { name: 'Open the menu' }).click()
  await expect(page.getByRole('link', { name: 'Health' })).toHaveAttribute('aria-current', 'page')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
})

test('every link leads somewhere', async ({ site }) => {
  const page = await site.pageOf('viewer')
  await page.goto('/health')
  const links = await page.locator('a[href]').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
  for (const link of new Set(links)) expect((await page.request.get(link)).status(), link).toBe(200)
})
