import { expect, type Page } from 'playwright/test'
import { argumentsHash } from '#lib/wire/arguments-hash'
import { test } from './site'

const isLive = (page: Page) => expect(page.getByText(/^Live\b/).first()).toBeVisible()

test('a parked question says that nobody holds it, and its answer makes the todo pending again', async ({ site }) => {
  const { agent } = site
  const { todo } = await agent.enqueue({ queue: 'e2e-park', title: 'Translate the contract' })
  const { todo: claimed } = await agent.claimTodo({ id: todo.id })
  await agent.interrupt({
    id: todo.id,
    lease_epoch: claimed.lease_epoch,
    mode: 'park',
    title: 'Into which language?',
    checkpoint: { read: 12 },
  })
  const page = await site.pageOf('responder')
  await page.goto(`/board?todo=${todo.id}`)
  await isLive(page)
  await expect(page.getByText(/Parked, held by nobody/)).toBeVisible()
  await page.getByRole('button', { name: 'Answer' }).click()
  const form = page.getByRole('form', { name: 'Answer: Into which language?' })
  await form.getByLabel('Answer').fill('Portuguese')
  await form.getByRole('button', { name: 'Send answer' }).click()
  await expect(page.locator('[data-column="pending"]').locator(`[data-card="${todo.id}"]`)).toBeVisible()
  const { todo: next } = await agent.claimTodo({ id: todo.id })
  expect(next).toMatchObject({
    attempts: 2,
    checkpoint: { read: 12 },
    interrupts: [{ content: { answer: 'Portuguese' } }],
  })
})

test('an approval shows what is proposed; a critical one is given only by typing its title', async ({ site }) => {
  const { agent } = site
  const { todo } = await agent.enqueue({ queue: 'e2e-approve', title: 'Pay the supplier' })
  const { todo: claimed } = await agent.claimTodo({ id: todo.id })
  const held = { id: todo.id, lease_epoch: claimed.lease_epoch }
  const given = { amount: 4200, currency: 'EUR', to: { name: 'Ada GmbH', iban: 'DE02 1203 0000 0000 2020 51' } }
  const { interrupt } = await agent.interrupt({
    ...held,
    kind: 'approval',
    mode: 'park',
    title: 'Pay 4 200 EUR to Ada GmbH?',
    proposal: { action: 'Transfer money', arguments: given },
    risk: 'critical',
  })
  const page = await site.pageOf('responder')
  await page.goto(`/inbox/${interrupt?.id}`)
  await isLive(page)
  const proposal = page.getByRole('region', { name: 'Proposal' })
  await expect(proposal.getByText('Transfer money')).toBeVisible()
  await expect(proposal.getByText('to.iban')).toBeVisible()
  await expect(proposal.getByText('DE02 1203 0000 0000 2020 51')).toBeVisible()
  await expect(proposal.getByText(/for 1 h after it is given/)).toBeVisible()
  const approve = page.getByRole('button', { name: 'Approve' })
  await expect(approve).toBeDisabled()
  await page.getByLabel(/Type the question’s title/).fill('Pay 4 200 EUR to Ada GmbH?')
  await approve.click()
  await expect
    .poll(async () => (await agent.getInterrupt({ id: String(interrupt?.id) })).interrupt)
    .toMatchObject({ status: 'answered', action: 'accept', channel: 'web' })
  const { todo: again } = await agent.claimTodo({ id: todo.id })
  const { effect } = await agent.beginEffect({
    id: todo.id,
    lease_epoch: again.lease_epoch,
    key: 'transfer',
    idempotent: false,
    interrupt_id: String(interrupt?.id),
    arguments_hash: await argumentsHash(given),
  })
  expect(effect).toMatchObject({ status: 'begun', interrupt_id: interrupt?.id })
})

test('an effect in doubt is settled on its todo’s page, with how one knows', async ({ site }) => {
  const { agent } = site
  const { todo } = await agent.enqueue({ queue: 'e2e-effect', title: 'Send the reminder' })
  const { todo: claimed } = await agent.claimTodo({ id: todo.id })
  const effect = { id: todo.id, key: 'send mail/1', idempotent: false, description: 'A reminder to ada@example.org' }
  await agent.beginEffect({ ...effect, lease_epoch: claimed.lease_epoch })
  await agent.release({ id: todo.id, lease_epoch: claimed.lease_epoch })
  const page = await site.pageOf('operator')
  await page.goto(`/todos/${todo.id}?tab=effects`)
  await isLive(page)
  await expect(page.getByText('Did it happen?')).toBeVisible()
  await expect(page.getByRole('button', { name: 'It happened' })).toBeDisabled()
  await page.getByLabel('How do you know?').fill('It stands in the outbox')
  await page.getByRole('button', { name: 'It happened' }).click()
  await expect(page.getByText(/settled .* by The operator/)).toBeVisible()
  const { todo: again } = await agent.claimTodo({ id: todo.id })
  const begun = await agent.beginEffect({ ...effect, lease_epoch: again.lease_epoch })
  expect(begun.effect).toMatchObject({ status: 'confirmed', comment: 'It stands in the outbox' })
})

test('who is answering whether it happened sees at once that its worker has said so', async ({ site }) => {
  const { agent } = site
  const { todo } = await agent.enqueue({ queue: 'e2e-late', title: 'Send the reminder' })
  const { todo: claimed } = await agent.claimTodo({ id: todo.id })
  const held = { id: todo.id, lease_epoch: claimed.lease_epoch }
  await agent.beginEffect({ ...held, key: 'mail', idempotent: false, description: 'Mails the customer' })
  const { interrupt } = await agent.interrupt({
    ...held,
    mode: 'park',
    title: 'Did it happen: mail?',
    effect_key: 'mail',
    schema: { type: 'object', properties: { happened: { type: 'boolean' } }, required: ['happened'] },
  })
  const page = await site.pageOf('responder')
  await page.goto(`/inbox/${interrupt?.id}`)
  await isLive(page)
  await expect(page.getByRole('button', { name: 'Send answer' })).toBeEnabled()
  await agent.settleEffect({ ...held, key: 'mail', status: 'confirmed', result: { id: 7 } })
  await expect(page.getByText(/The worker that began it has said itself how it went/)).toBeVisible()
  await page.goto(`/todos/${todo.id}?tab=questions`)
  await expect(page.getByText('Answered by its worker')).toBeVisible()
  await page.goto(`/todos/${todo.id}`)
  await expect(page.getByText(/its worker has said how the effect went/)).toBeVisible()
  const { todo: next } = await agent.claimTodo({ id: todo.id })
  expect(next).toMatchObject({ attempts: 2, failures: 0, lease_expirations: 0 })
})
