import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { enqueue } from '#lib/queue/enqueue'
import { OPERATOR } from '../support/given'
import { door } from './door'
import { NGINX, nginxBefore } from './nginx'
import { closeStreams, openStream } from './stream-client'

// Skipped where no nginx is installed (on Debian: apt-get install nginx-light).
const withNginx = test.skipIf(NGINX === null)
const api = door()
let proxy: Awaited<ReturnType<typeof nginxBefore>> | undefined

beforeAll(async () => {
  if (NGINX) proxy = await nginxBefore(api.url)
})
afterEach(closeStreams)
afterAll(() => proxy?.stop())

for (const encodings of ['identity', 'gzip, deflate, br']) {
  withNginx(`behind nginx as it comes, frames arrive at once for a client that takes ${encodings}`, async () => {
    const { token } = await api.agent(['read'])
    const client = await openStream(String(proxy?.url), {
      authorization: `Bearer ${token}`,
      'accept-encoding': encodings,
    })
    await expect.poll(() => client.named('hello'), { timeout: 1000 }).toHaveLength(1)
    for (const title of ['First', 'Second', 'Third']) {
      const [made] = await enqueue(api.db, [{ queue: 'main', title }], OPERATOR)
      await expect
        .poll(() => client.named('transition').at(-1)?.data.todo?.id, { timeout: 1000, interval: 10 })
        .toBe(made?.todo.id)
    }
    expect(client.headers['content-encoding'] ?? 'none').toBe('none')
  })
}
