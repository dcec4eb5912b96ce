import { once } from 'node:events'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { createParser } from 'eventsource-parser'

/** One event of a stream. */
export interface Heard {
  name: string
  id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape
  data: any
}

/** A client of the stream, as an EventSource is one. */
export interface StreamClient {
  status: number
  headers: IncomingHttpHeaders
  heard: Heard[]
  comments: string[]
  /** What `retry:` fields said, in milliseconds. */
  retries: number[]
  /** The events of a name, in order. */
  named(name: string): Heard[]
  /** The id of the last event that had one. */
  readonly cursor: string | undefined
  /** Stops reading; the connection stays open. */
  pause(): void
  resume(): void
  ended: Promise<void>
  close(): void
}

const open: StreamClient[] = []

/** Ends all clients that are open; for after each test. */
export function closeStreams(): void {
  for (const client of open.splice(0)) client.close()
}

/** Opens the stream at an address and gives it once its headers have come. */
export async function openStream(
  url: string,
  headers: Record<string, string> = {},
  path = '/api/v1/events',
): Promise<StreamClient> {
  const sent = request(`${url}${path}`, { headers, agent: false })
  sent.on('error', () => {})
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const client = read(response, () => sent.destroy())
  open.push(client)
  return client
}

function read(response: IncomingMessage, close: () => void): StreamClient {
  const [heard, comments, retries]: [Heard[], string[], number[]] = [[], [], []]
  const parser = createParser({
    onEvent: ({ event, id, data }) => void heard.push({ name: event ?? '', id, data: JSON.parse(data) }),
    onRetry: (ms) => void retries.push(ms),
    onComment: (comment) => void comments.push(comment),
  })
  response.setEncoding('utf8')
  response.on('data', (text: string) => parser.feed(text))
  response.on('error', () => {})
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    heard,
    comments,
    retries,
    named: (name) => heard.filter((one) => one.name === name),
    get cursor() {
      return heard.findLast(({ id }) => id !== undefined)?.id
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    ended: new Promise((resolve) => response.once('close', () => resolve())),
    close,
  }
}
