import { expect } from 'playwright/test'
import { ALONE, test } from './site'

const MOVES = 100
const EVERY_MS = 50

test('a commit is on the screen in a moment, at twenty transitions a second', ALONE, async ({ site }) => {
  test.setTimeout(60_000)
  const page = await site.pageOf('viewer', { viewport: { width: 1440, height: 900 } })
  await page.goto('/board?queue=e2e-pixels')
  await expect(page.getByText(/^Live\b/).first()).toBeVisible()
  await page.evaluate(() => {
    const seen: Record<string, number> = {}
    Object.assign(window, { seen })
    const look = () => {
      for (const card of document.querySelectorAll<HTMLElement>('[data-column="pending"] [data-card]')) {
        const id = card.dataset.card ?? ''
        if (seen[id] === undefined) {
          seen[id] = 0
          requestAnimationFrame(() => {
            seen[id] = Date.now()
          })
        }
      }
    }
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
  })
  const ids: string[] = []
  for (let n = 0; n < MOVES; n += 1) {
    const next = Date.now() + EVERY_MS
    const { todo } = await site.agent.enqueue({ queue: 'e2e-pixels', title: `Pixel ${n}` })
    ids.push(todo.id)
    await page.waitForTimeout(Math.max(0, next - Date.now()))
  }
  await expect
    .poll(() =>
      page.evaluate(
        () => Object.values((window as unknown as { seen: Record<string, number> }).seen).filter(Boolean).length,
      ),
    )
    .toBeGreaterThanOrEqual(MOVES)
  const seen = await page.evaluate(() => (window as unknown as { seen: Record<string, number> }).seen)
  // Browser, server and database share a machine and so a clock.
  const rows = await site.db.query<{ todo_id: string; at: string }>({
    text: `SELECT todo_id, at FROM todo_events WHERE verb = 'created' AND todo_id = ANY($1)`,
    values: [ids],
  })
  const took = rows.map(({ todo_id, at }) => Number(seen[todo_id]) - Date.parse(at)).sort((a, b) => a - b)
  const [p50, p99] = [took[Math.floor(took.length * 0.5)], took[Math.floor(took.length * 0.99)]]
  process.stdout.write(`      commit to pixels at 20/s: p50 ${p50} ms, p99 ${p99} ms\n`)
  expect(p50).toBeLessThan(process.env.SWITCHBOARD_PROVE ? 50 : 250)
  expect(p99).toBeLessThan(process.env.SWITCHBOARD_PROVE ? 250 : 1000)
})
