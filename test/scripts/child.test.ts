import { expect, test } from 'vitest'
import { startChild } from '#scripts/child.mjs'

const LINK = 'http://127.0.0.1:4300/welcome/abc'

const says = async (message: unknown) => {
  const heard: { level: string; text: string }[] = []
  const code = `process.send(${JSON.stringify(message)}, () => process.exit(0))`
  const log = { write: () => {}, close: () => {} }
  const child = startChild({
    name: 'web',
    args: ['-e', code],
    env: { ...process.env },
    log,
    hear: (said) => heard.push(said),
  })
  await child.exited
  return heard
}

test('the link for the first admin is shown with what to do with it', async () => {
  await expect
    .poll(() => says({ type: 'first_admin', url: LINK }))
    .toEqual([{ level: 'notice', text: `Open this once to become the first admin\n  ${LINK}\n` }])
})

test('other messages are shown as they are, or not at all', async () => {
  await expect
    .poll(() => says({ notice: 'Something to know' }))
    .toEqual([{ level: 'notice', text: 'Something to know' }])
  for (const message of [null, 1, 'text', {}, { type: 'other' }]) expect(await says(message)).toEqual([])
})
