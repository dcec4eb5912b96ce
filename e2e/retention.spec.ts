import { expect } from 'playwright/test'
import { ALONE, emptyQueue, test } from './site'

test('the days kept are set on the page, which says before what goes, and goes for good', ALONE, async ({ site }) => {
  await emptyQueue(site)
  const ids: string[] = []
  for (const title of ['Old', 'Older', 'Young']) {
    const { todo } = await site.agent.enqueue({ queue: 'e2e-retention', title })
    await site.agent.cancel({ id: todo.id })
    ids.push(todo.id)
  }
  await site.db.query({
    text: `UPDATE todos SET completed_at = now() - interval '20 days' WHERE title IN ('Old', 'Older')`,
  })
  const page = await site.pageOf('admin')
  await page.goto('/settings')
  const field = page.locator('form').filter({ has: page.getByRole('textbox', { name: 'Days kept' }) })
  await field.getByRole('textbox').fill('0')
  await expect(field.getByText('Off: this deletes nothing.')).toBeVisible()
  await field.getByRole('textbox').fill('10')
  await expect(field.getByText('The next round would delete 2 ended todos, for good.')).toBeVisible()
  await field.getByRole('button', { name: 'Save', exact: true }).click()
  const left = async () => (await site.db.query<{ id: string }>({ text: 'SELECT id FROM todos' })).map(({ id }) => id)
  await expect.poll(left, { timeout: 5000, intervals: [50] }).toEqual([ids[2]])
  await site.db.query({ text: `DELETE FROM settings WHERE key = 'retention_max_age_days'` })
})
