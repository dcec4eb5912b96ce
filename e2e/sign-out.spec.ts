import { expect } from 'playwright/test'
import { endSessions, test } from './site'

test('whoever signs out asks for nothing any more, and going back shows nothing', async ({ site }) => {
  const page = await site.pageOf('viewer')
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.status() === 401) refused.push(new URL(response.url()).pathname)
  })
  await page.goto('/board')
  await expect(page.getByText(/^Live\b/).first()).toBeVisible()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page).toHaveURL(/\/sign-in/)
  await page.goBack()
  await expect(page).toHaveURL(/\/sign-in/)
  expect(refused).toEqual([])
  await endSessions(site)
})

test('a todo has the first heading on a page of its own, and the second beside the board', async ({ site }) => {
  const page = await site.pageOf('viewer')
  const { todo } = await site.agent.enqueue({ queue: 'e2e-heading', title: 'Head of the page' })
  await page.goto(`/todos/${todo.id}`)
  await expect(page.getByRole('heading', { level: 1, name: 'Head of the page' })).toBeVisible()
  await page.goto(`/board?todo=${todo.id}`)
  await expect(page.getByRole('heading', { level: 2, name: 'Head of the page' })).toBeVisible()
})
