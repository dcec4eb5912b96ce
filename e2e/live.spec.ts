import { expect, type Page } from 'playwright/test'
import { worker } from '#lib/sdk/sdk'
import { ALONE, emptyQueue, endSessions, type Site, test } from './site'

const column = (page: Page, state: string) => page.locator(`[data-column="${state}"]`)
const cardIn = (page: Page, state: string, id: string) => column(page, state).locator(`[data-card="${id}"]`)
const isLive = (page: Page, within?: { timeout: number }) =>
  expect(page.getByText(/^Live\b/).first()).toBeVisible(within)

test('a card crosses the columns through the stream alone, each time in under a second', ALONE, async ({ site }) => {
  const page = await site.pageOf('viewer')
  await page.goto('/board')
  await isLive(page)
  const { todo } = await site.agent.enqueue({ queue: 'e2e-cross', title: 'Cross the board' })
  await expect(cardIn(page, 'pending', todo.id)).toBeVisible({ timeout: 1000 })
  const { todo: claimed } = await site.agent.claimTodo({ id: todo.id })
  await expect(cardIn(page, 'claimed', todo.id)).toBeVisible({ timeout: 1000 })
  await expect(cardIn(page, 'pending', todo.id)).toBeHidden()
  await site.agent.complete({ id: todo.id, lease_epoch: claimed.lease_epoch })
  await expect(cardIn(page, 'completed', todo.id)).toBeVisible({ timeout: 1000 })
})

test('a worker asks, a person answers in the browser, and the work is completed', async ({ site }) => {
  const page = await site.pageOf('responder')
  await site.agent.enqueue({ queue: 'e2e-ask', title: 'Ship it' })
  const running = worker({
    url: site.url,
    token: site.token,
    queues: ['e2e-ask'],
    signals: false,
    handler: async (ctx) => {
      const answer = await ctx.ask({
        title: 'Where should it go?',
        schema: {
          type: 'object',
          properties: {
            city: { type: 'string', title: 'City', minLength: 3, maxLength: 40 },
            express: { type: 'boolean', title: 'Express' },
          },
          required: ['city'],
        },
      })
      return answer.content
    },
  })
  try {
    await page.goto('/inbox')
    await page.getByText('Where should it go?').first().click()
    await expect(page).toHaveTitle(/^\(\d+\) /)
    const form = page.getByRole('form', { name: 'Answer: Where should it go?' })
    await form.getByLabel('City').fill('Bo')
    await form.getByRole('button', { name: 'Send answer' }).click()
    await expect(form.getByText(/3 characters/)).toBeVisible()
    await form.getByLabel('City').fill('Bonn')
    await form.getByRole('button', { name: 'Send answer' }).click()
    await expect
      .poll(async () => (await site.agent.listTodos({ queue: 'e2e-ask' })).todos[0]?.state, { timeout: 5000 })
      .toBe('completed')
    const { todos } = await site.agent.listTodos({ queue: 'e2e-ask' })
    const { todo } = await site.agent.getTodo({ id: String(todos[0]?.id) })
    expect(todo.result).toMatchObject({ city: 'Bonn' })
  } finally {
    await running.stop()
  }
})

test('typing survives twenty live updates, and a reload', async ({ site }) => {
  const page = await site.pageOf('responder')
  const { todo } = await site.agent.enqueue({ queue: 'e2e-typing', title: 'Type here' })
  const { todo: claimed } = await site.agent.claimTodo({ id: todo.id })
  const { interrupt } = await site.agent.interrupt({
    id: todo.id,
    lease_epoch: claimed.lease_epoch,
    title: 'What is the plan?',
  })
  await page.goto(`/inbox/${interrupt?.id}`)
  await isLive(page)
  const field = page.getByRole('form', { name: /What is the plan/ }).getByRole('textbox')
  await field.fill('First we measure')
  await field.press('ArrowLeft')
  for (let n = 0; n < 20; n += 1) await site.agent.enqueue({ queue: 'e2e-typing', title: `Update ${n}` })
  await expect(field).toBeFocused()
  await expect(field).toHaveValue('First we measure')
  expect(await field.evaluate((node) => (node as HTMLTextAreaElement).selectionStart)).toBe(15)
  await page.reload()
  await expect(page.getByRole('form', { name: /What is the plan/ }).getByRole('textbox')).toHaveValue(
    'First we measure',
  )
})

test('of two people who answer, one counts and the other is told who was first', async ({ site }) => {
  const { todo } = await site.agent.enqueue({ queue: 'e2e-two', title: 'Decide' })
  const { todo: claimed } = await site.agent.claimTodo({ id: todo.id })
  const { interrupt } = await site.agent.interrupt({
    id: todo.id,
    lease_epoch: claimed.lease_epoch,
    title: 'Yes or no?',
  })
  const page = await site.pageOf('responder')
  await page.goto(`/inbox/${interrupt?.id}`)
  const form = page.getByRole('form', { name: /Yes or no/ })
  await form.getByRole('textbox').fill('my own words')
  await site.agent.answerInterrupt({ id: String(interrupt?.id), content: { answer: 'somebody else was faster' } })
  await expect(form.getByText(/answered/i).first()).toBeVisible({ timeout: 2000 })
  await expect(form.getByRole('textbox')).toHaveValue('my own words')
  await expect(form.getByRole('button', { name: 'Send answer' })).toBeHidden()
})

test('the deadline set on the page is in force within a second, and 0 turns it off', ALONE, async ({ site }) => {
  await emptyQueue(site)
  const page = await site.pageOf('admin')
  const old = await heldFor(site, 61)
  await page.goto('/settings')
  const field = page.locator('form').filter({ has: page.getByRole('textbox', { name: 'Interrupt deadline' }) })
  const fill = async (value: string) => {
    await field.getByLabel('Unit of Interrupt deadline').selectOption({ label: 'seconds' })
    await field.getByRole('textbox').fill(value)
  }
  await fill('60')
  await expect(field.getByText(/next sweep would take back 1 wait/)).toBeVisible()
  await field.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.poll(() => stateOf(site, old), { timeout: 1500, intervals: [50] }).toBe('pending')

  await fill('0')
  await field.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(field.getByText(/wait for ever/i).first()).toBeVisible()
  const kept = await heldFor(site, 90_000)
  // A lapsed lease is swept by a tick that also comes to the questions, and takes none.
  const { todo } = await site.agent.enqueue({ queue: 'e2e-ttl', title: 'Lapse' })
  await site.agent.claimTodo({ id: todo.id, lease_seconds: 1 })
  await expect.poll(() => stateOf(site, todo.id), { timeout: 5000, intervals: [50] }).toBe('pending')
  expect(await stateOf(site, kept)).toBe('input-required')
})

test('the times of a browser in another zone agree with the server', async ({ site }) => {
  const page = await site.pageOf('viewer', { timezoneId: 'Asia/Kolkata', locale: 'en-IN' })
  await site.agent.enqueue({ queue: 'e2e-zone', title: 'Anywhere' })
  for (const path of ['/board', '/inbox']) {
    await page.goto(path)
    await isLive(page)
  }
})

test('eight boards in one browser are all live, and the last is of use within 3 s', ALONE, async ({ site }) => {
  test.setTimeout(90_000)
  const first = await site.pageOf('viewer')
  const pages = [first, ...(await Promise.all(Array.from({ length: 7 }, () => first.context().newPage())))]
  for (const page of pages) {
    await page.goto('/board')
    await isLive(page, { timeout: 3000 })
  }
  const { todo } = await site.agent.enqueue({ queue: 'e2e-tabs', title: 'For all tabs' })
  await Promise.all(pages.map((page) => expect(cardIn(page, 'pending', todo.id)).toBeVisible({ timeout: 3000 })))
})

test('after one 502 the stream comes back by itself, and signed out it says so', async ({ site }) => {
  test.setTimeout(90_000)
  const page = await site.pageOf('viewer')
  let failures = 1
  await page.route('**/api/v1/events*', (route) => {
    failures -= 1
    return failures >= 0 ? route.fulfill({ status: 502, body: '' }) : route.continue()
  })
  await page.goto('/board')
  await expect(page.getByText(/^Live\b/).first()).toBeVisible({ timeout: 40_000 })
  await endSessions(site)
  await expect(page.getByText(/signed out/i).first()).toBeVisible({ timeout: 40_000 })
})

const stateOf = async ({ agent }: Site, id: string) => (await agent.getTodo({ id })).todo.state

/** A todo whose question has been open for so many seconds. */
async function heldFor({ agent, db }: Site, seconds: number): Promise<string> {
  const { todo } = await agent.enqueue({ queue: 'e2e-ttl', title: 'Wait' })
  const { todo: claimed } = await agent.claimTodo({ id: todo.id })
  await agent.interrupt({ id: todo.id, lease_epoch: claimed.lease_epoch, title: 'Still there?' })
  await db.query({
    text: `UPDATE todos SET interrupted_at = interrupted_at - make_interval(secs => $2) WHERE id = $1`,
    values: [todo.id, seconds],
  })
  return todo.id
}
