import { expect } from 'playwright/test'
import { test } from './site'

test('a todo that came back says why, also to who loads the board afterwards', async ({ site }) => {
  const { todo } = await site.agent.enqueue({ queue: 'why', title: 'Came back' })
  await site.agent.claimTodo({ id: todo.id, lease_seconds: 1 })
  const page = await site.pageOf('operator')
  await page.goto('/board?queue=why')
  const card = page.locator('article', { hasText: 'Came back' })
  await expect(page.locator('[data-column=pending]')).toContainText('lease expired')
  await page.reload()
  await expect(card).toContainText('lease expired')
})

test('what has just ended stands first in its column, also after a reload', async ({ site }) => {
  const names = ['First made', 'Second made', 'Third made']
  const made = []
  for (const title of names) made.push((await site.agent.enqueue({ queue: 'ends', title })).todo)
  const page = await site.pageOf('operator')
  await page.goto('/board?queue=ends')
  await expect(page.locator('[data-column=pending] article')).toHaveCount(3)
  for (const { id } of [...made].reverse()) {
    const { todo } = await site.agent.claimTodo({ id })
    await site.agent.complete({ id, lease_epoch: todo.lease_epoch })
  }
  const shown = () => page.locator('[data-column=completed] article a').allTextContents()
  await expect.poll(shown).toEqual(names)
  await page.reload()
  await expect.poll(shown).toEqual(names)
})

test('an operator cancels a whole column, sees how far it is and what could not be done', async ({ site }) => {
  const { agent } = site
  const queue = 'sweep'
  for (let n = 0; n < 3; n++) await agent.enqueue({ queue, title: `Sweep ${n}` })
  const page = await site.pageOf('operator')
  await page.goto(`/board?queue=${queue}`)
  const column = page.locator('[data-column=pending]')
  await expect(column.locator('article')).toHaveCount(3)
  await column.getByRole('button', { name: 'Actions for all in Pending' }).click()
  await page.getByRole('menuitem', { name: 'Cancel 3 todos' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText(`Only those the board shows now are meant: queue ${queue}.`)
  await dialog.getByLabel('Reason').fill('No longer wanted')
  await dialog.getByRole('button', { name: 'Cancel 3 todos' }).click()
  await expect(dialog).toContainText('Canceled 3 todos.')
  await expect(column.locator('article')).toHaveCount(0)
  await dialog.getByRole('link', { name: 'All results' }).click()
  await expect(page.getByRole('heading', { name: 'Cancel 3 todos' })).toBeVisible()
  await expect(page.getByRole('list').getByText('Sweep 2')).toBeVisible()
  await page.getByRole('link', { name: 'All bulk runs' }).click()
  await expect(page.getByRole('link', { name: 'Cancel 3 todos' }).first()).toBeVisible()
})

test('who may not act on todos has no menu for a column', async ({ site }) => {
  await site.agent.enqueue({ queue: 'looks', title: 'Only looked at' })
  const page = await site.pageOf('viewer')
  await page.goto('/board?queue=looks')
  await expect(page.locator('[data-column=pending] article')).toHaveCount(1)
  await expect(page.getByRole('button', { name: /^Actions for all/ })).toHaveCount(0)
})
