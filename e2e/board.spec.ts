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
