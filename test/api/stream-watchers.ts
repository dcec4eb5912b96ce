import { afterAll, afterEach, beforeAll } from 'vitest'
import { createEndpoint, type NewEndpoint } from '#lib/auth/endpoints'
import { enqueue } from '#lib/queue/enqueue'
import { database, type TestDatabase } from '../support/database'
import { given, OPERATOR } from '../support/given'
import { closeStreams, openStream, type StreamClient } from './stream-client'
import { streamSite } from './stream-site'

/** A site whose streams beat fast, and those who watch it; all over the test file's own database. */
export interface Watchers extends TestDatabase {
  readonly site: Awaited<ReturnType<typeof streamSite>>
  /** The headers of a new endpoint that may read. */
  token(more?: Partial<NewEndpoint>): Promise<Record<string, string>>
  /** Opens a stream, as a new endpoint unless told. */
  open(headers?: Record<string, string>, query?: string): Promise<StreamClient>
  /** Makes a todo, and gives its id. */
  make(title: string, queue?: string): Promise<string>
}

/** The titles of the todos whose transitions a client has heard of. */
export const titles = (client: StreamClient): string[] => client.named('transition').map(({ data }) => data.todo?.title)

/** Call once at the top of a test file; streams that a test leaves open are closed after it. */
export function watchers(): Watchers {
  const own = database()
  let site: Watchers['site']
  let endpoints = 0
  beforeAll(async () => {
    site = await streamSite(own.url, { pollMs: 50, stream: { beatMs: 150, leaseMs: 50, mostOfCaller: 3 } })
    await given(own.db, 'pending')
  })
  afterEach(closeStreams)
  afterAll(() => site.stop())
  const token: Watchers['token'] = async (more = {}) => {
    endpoints += 1
    const { token } = await createEndpoint(own.db, { name: `watcher-${endpoints}`, scopes: ['read'], ...more })
    return { authorization: `Bearer ${token}` }
  }
  return {
    ...own,
    get site() {
      return site
    },
    token,
    open: async (headers, query = '') => openStream(site.url, headers ?? (await token()), `/api/v1/events${query}`),
    make: async (title, queue = 'main') => (await enqueue(own.db, [{ queue, title }], OPERATOR))[0]?.todo.id as string,
  }
}
