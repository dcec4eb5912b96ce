import { worker } from 'switchboard/sdk'

// A worker as an agent would write it, for a test that sends it a signal; its handler says so when it has begun.
await worker({
  queues: ['process'],
  graceSeconds: 0.2,
  handler: ({ signal }) =>
    new Promise((_, reject) => {
      process.stdout.write('begun\n')
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    }),
}).done
