import AxeBuilder from '@axe-core/playwright'
import { expect, type Locator, type Page } from 'playwright/test'
import { ALONE, emptyQueue, type Site, test } from './site'

const PAGES = ['/board', '/inbox', '/settings', '/health', '/bulk'] as const

const SCHEMES = ['light', 'dark'] as const

for (const width of [1440, 375]) {
  test(`every page is accessible and fits in both themes, at ${width} px`, async ({ site }) => {
    test.setTimeout(120_000)
    const { agent } = site
    const { todo } = await agent.enqueue({ queue: 'e2e-look', title: 'Look at me', payload: { a: [1, 2] } })
    const { todo: claimed } = await agent.claimTodo({ id: todo.id })
    const held = { id: todo.id, lease_epoch: claimed.lease_epoch }
    await agent.beginEffect({ ...held, key: 'look', idempotent: false, description: 'Looks at it' })
    const part = { queue: 'e2e-look', title: 'A part of it', parent_id: todo.id, parent_epoch: held.lease_epoch }
    const { todo: child } = await agent.enqueue({ ...part, budget: { max_tokens: 9 } })
    const { interrupt } = await agent.interrupt({
      ...held,
      kind: 'approval',
      mode: 'park',
      title: 'Is it good?',
      message: '**Well?**',
      risk: 'critical',
      proposal: { action: 'Look at it', arguments: { where: 'from afar', times: [1, 2] } },
    })
    const page = await site.pageOf('admin', { viewport: { width, height: 900 } })
    const own = [`/inbox/${interrupt?.id}`, `/todos/${todo.id}`, `/todos/${todo.id}?tab=effects`]
    own.push(`/todos/${todo.id}?tab=children`, `/todos/${child.id}`)
    const { bulk_id } = await agent.orderBulk({ action: 'reject', ids: [todo.id], reason: 'To be looked at' })
    own.push(`/bulk/${bulk_id}`)
    for (const path of [...PAGES, ...own, `/board?todo=${todo.id}`]) {
      await page.goto(path)
      await expect(page.getByText(/^Live\b/).first()).toBeAttached()
      await expect(page.locator('main').locator('h1, h2').first()).toBeVisible()
      await isAccessible(page, path)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    }
  })
}

test('signing in is accessible in both themes', async ({ page }) => {
  for (const path of ['/sign-in', '/welcome/not-an-invitation']) {
    await page.goto(path)
    await expect(page.locator('h1').first()).toBeVisible()
    await isAccessible(page, path)
  }
})

async function isAccessible(page: Page, path: string): Promise<void> {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme)
    // Without frames to look into, the mode called legacy finds the same and opens no second page.
    const axe = new AxeBuilder({ page }).setLegacyMode(true).withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
    const { violations } = await axe.analyze()
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    expect({ path, colorScheme, found }).toEqual({ path, colorScheme, found: [] })
  }
}

/** Kilobytes of script, as sent, that the board loads until this is to be seen. */
async function scriptOf(site: Site, isThere: (page: Page) => Locator): Promise<number> {
  const page = await site.pageOf('viewer')
  const sizes: Promise<number>[] = []
  page.on('response', (response) => {
    const request = response.request()
    if (request.resourceType() === 'script')
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
  })
  await page.goto('/board')
  await expect(page.getByText(/^Live\b/).first()).toBeVisible()
  await expect(isThere(page)).toBeVisible()
  await page.waitForLoadState('load')
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  await page.close()
  return Math.round(bytes / 1024)
}

test("the board's first load is at most 250 kB of script, with todos and before the first", ALONE, async ({ site }) => {
  const { todo } = await site.agent.enqueue({ queue: 'e2e-script', title: 'Weigh me' })
  const full = await scriptOf(site, (page) => page.locator(`[data-card="${todo.id}"]`))
  await emptyQueue(site)
  const empty = await scriptOf(site, (page) => page.getByText('Nothing here yet'))
  process.stdout.write(`      the board loads ${full} kB of script, before the first todo ${empty} kB\n`)
  for (const kilobytes of [full, empty]) {
    expect(kilobytes).toBeGreaterThan(50)
    expect(kilobytes).toBeLessThanOrEqual(250)
  }
})
