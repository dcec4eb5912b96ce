import { expect } from 'playwright/test'
import { test } from './site'

test('a todo’s page shows its children as they move, and its own going on', async ({ site }) => {
  const { agent } = site
  const { todo } = await agent.enqueue({ queue: 'e2e-family', title: 'Read the report', budget: { max_tokens: 500 } })
  const { todo: claimed } = await agent.claimTodo({ id: todo.id })
  const held = { id: todo.id, lease_epoch: claimed.lease_epoch }
  const part = { queue: 'e2e-family', title: 'Read page 1', parent_id: todo.id, parent_epoch: held.lease_epoch }
  const { todo: child } = await agent.enqueue(part)
  await agent.wait({ ...held, usage: { tokens: 120 } })
  const page = await site.pageOf('operator')
  await page.goto(`/todos/${todo.id}?tab=children`)
  await expect(page.getByText('It waits for its live child to end.')).toBeVisible()
  await expect(page.getByText('120 of 500')).toBeVisible()
  const row = page.getByRole('listitem').filter({ hasText: 'Read page 1' })
  await expect(row.getByText(/^Pending/)).toBeVisible()
  const { todo: begun } = await agent.claimTodo({ id: child.id })
  await expect(row.getByText(/^Claimed/)).toBeVisible()
  await agent.complete({ id: child.id, lease_epoch: begun.lease_epoch })
  await expect(row.getByText(/^Completed/)).toBeVisible()
  await expect(page.getByText(/^Ready for/)).toBeVisible()
  await row.getByRole('link').click()
  await expect(page.getByRole('link', { name: 'Read the report' })).toBeVisible()
})

test('what has used up its budget is put back only with more of it', async ({ site }) => {
  const { agent } = site
  const { todo } = await agent.enqueue({ queue: 'e2e-spent', title: 'Spend it', budget: { max_tokens: 10 } })
  const { todo: claimed } = await agent.claimTodo({ id: todo.id })
  const beaten = await agent.heartbeat({ id: todo.id, lease_epoch: claimed.lease_epoch, usage: { tokens: 11 } })
  expect(beaten.state).toBe('failed')
  const page = await site.pageOf('operator')
  await page.goto(`/todos/${todo.id}`)
  await page.getByRole('button', { name: 'Requeue' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('button', { name: 'Requeue' })).toBeDisabled()
  await dialog.getByLabel(/New limit: tokens/).fill('100')
  await dialog.getByRole('button', { name: 'Requeue' }).click()
  await expect(page.getByText(/^Ready for/)).toBeVisible()
  expect((await agent.getTodo({ id: todo.id })).todo).toMatchObject({ state: 'pending', budget: { max_tokens: 100 } })
})
