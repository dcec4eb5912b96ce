import { afterEach } from 'vitest'
import { type Client, connect } from '#lib/sdk/client'
import type { LogLine } from '#lib/sdk/log'
import { type Worker, type WorkerOptions, worker } from '#lib/sdk/worker'
import type { Scope } from '#lib/wire/caller'
import type { Door } from '../api/door'
import { createLine, type Line } from './line'

/** A worker under test, with the line to its server and what it logs; it is stopped after the test. */
export interface Staffed extends Worker {
  line: Line
  log: LogLine[]
}

/** What a test of workers needs: a client that may do everything, and workers with an endpoint each. */
export interface Staff {
  client(): Promise<Client>
  /** Its endpoint may work, and what else is said. */
  work(
    options: Partial<WorkerOptions> & Pick<WorkerOptions, 'handler'> & { scopes?: readonly Scope[] },
  ): Promise<Staffed>
}

/** Call once at the top of a test file. */
export function staff(api: Door): Staff {
  const hired = new Set<Worker>()
  afterEach(async () => {
    await Promise.allSettled([...hired].map((one) => one.stop()))
    hired.clear()
  })
  return {
    client: async () => connect({ url: api.url, token: (await api.agent()).token }),
    work: async ({ scopes = ['work'], ...options }) => {
      const { token } = await api.agent([...scopes])
      const line = createLine()
      const log: LogLine[] = []
      const heard = { log: (said: LogLine) => void log.push(said) }
      const running = worker({
        url: api.url,
        token,
        fetch: line.fetch,
        signals: false,
        graceSeconds: 0,
        ...heard,
        ...options,
      })
      hired.add(running)
      return { ...running, line, log }
    },
  }
}

/** A promise and what settles it. */
export function promised<Value = void>() {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Resolves with the signal's reason once it is aborted. */
export const abortOf = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason)
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
  })
