import { setTimeout as sleep } from 'node:timers/promises'
import { worker } from 'switchboard/sdk'

// A worker that is killed again and again; SWITCHBOARD_URL and SWITCHBOARD_TOKEN as ever, its name and lease as arguments.
// Every third todo asks in the middle: held by one half of them, parked by the other.

const [name, leaseSeconds] = process.argv.slice(2)
const WORK_MS = 150

const { done } = worker({
  name: String(name),
  leaseSeconds: Number(leaseSeconds),
  queues: ['faults'],
  concurrency: 4,
  log: () => {},
  handler: async ({ todo, ask, park, effect, signal }) => {
    const { n } = todo.payload as { n: number }
    await sleep(WORK_MS, undefined, { signal })
    if (n % 6 === 0) await ask({ title: `May I, ${n}?` })
    if (n % 6 === 3) await park({ title: `Shall I, ${n}?` }, { n })
    return effect('write', { idempotent: true }, async () => n)
  },
})
await done
