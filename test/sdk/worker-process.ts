import { type Handler, worker } from 'switchboard/sdk'

// A worker as an agent would write it, for tests that end its process; it works on the queue it is told, with that handler,
// and says aloud what it does.

const say = (what: string): boolean => process.stdout.write(`${what}\n`)

const forever: Handler = ({ signal }) =>
  new Promise((_, reject) => {
    say('begun')
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

const HANDLERS: Record<string, Handler> = {
  process: forever,
  hands: async (context) => {
    if (!(context.todo.payload as { asks?: boolean })?.asks) return forever(context)
    say('asks')
    return (await context.ask<{ answer: string }>({ title: 'Which one?' })).content
  },
  trip: async ({ park, checkpoint }) => {
    say(`enters with ${JSON.stringify(checkpoint)}`)
    return (await park<{ answer: string }>({ title: 'Where to?' }, { page: 7 })).content
  },
  doubt: ({ effect, todo }) =>
    effect('send', { idempotent: todo.kind === 'idempotent', description: 'Sends the letter' }, () => {
      say('runs')
      // The first attempt never gets to say how it went.
      return todo.attempts === 1 ? new Promise<number>(() => {}) : todo.attempts
    }),
}

const queue = process.argv[2] ?? 'process'
await worker({ queues: [queue], concurrency: 2, graceSeconds: 0.2, handler: HANDLERS[queue] as Handler }).done
