import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Refusal } from '#lib/model/errors'
import { completeAnswer } from './complete-answer'
import { problem } from './problem'

/** Why the parser refuses what came in, as node:http tells it to `clientError`. */
export type ParserError = NodeJS.ErrnoException

interface Why {
  status: number
  detail: string
}

const TOO_LONG: Why = { status: 431, detail: 'The address and the headers are longer than 16 KiB together' }
const TOO_LATE: Why = { status: 408, detail: 'The request was not complete in time' }

const WHY: Record<string, Why> = {
  HPE_HEADER_OVERFLOW: TOO_LONG,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: 'The extensions of its chunks are longer than 16 KiB' },
  ERR_HTTP_REQUEST_TIMEOUT: TOO_LATE,
  HPE_INVALID_METHOD: { status: 400, detail: 'There is no such method in HTTP' },
  HPE_INVALID_URL: { status: 400, detail: 'The address holds what no address may hold, or begins with no slash' },
  HPE_INVALID_VERSION: { status: 400, detail: 'Its version of HTTP is not known: it must be 1.1' },
  HPE_INVALID_HEADER_TOKEN: { status: 400, detail: 'A header holds characters that no header may hold' },
  HPE_INVALID_CONTENT_LENGTH: { status: 400, detail: 'Content-Length is no length' },
  HPE_UNEXPECTED_CONTENT_LENGTH: { status: 400, detail: 'Content-Length and Transfer-Encoding exclude each other' },
  HPE_INVALID_TRANSFER_ENCODING: { status: 400, detail: 'Transfer-Encoding must be chunked, without Content-Length' },
  HPE_INVALID_CHUNK_SIZE: { status: 400, detail: 'The length of a chunk is no length' },
}

const UNKNOWN: Why = { status: 400, detail: 'This is no request of HTTP/1.1' }

// node:http knows what it is answering on a connection, and only there.
type Answering = Duplex & { _httpMessage?: ServerResponse | null }

/**
 * Answers what never becomes a request, since the parser refuses it, as problem+json where HTTP still lets us, and ends
 * the connection.
 */
export function refuseUnreadable(error: ParserError, socket: Duplex): void {
  const { _httpMessage: answering } = socket as Answering
  if (error.code === 'ECONNRESET' || !socket.writable || answering?.headersSent) return void socket.destroy()
  write(socket, WHY[error.code ?? ''] ?? UNKNOWN)
}

/** Answers a request for a tunnel, which nobody offers here. */
export function refuseTunnel(_req: IncomingMessage, socket: Duplex): void {
  // Without a listener a connection that breaks now would end the process.
  socket.on('error', () => socket.destroy())
  write(socket, { status: 400, detail: 'This is no proxy: CONNECT leads nowhere' })
}

function write(socket: Duplex, { status, detail }: Why): void {
  const requestId = randomUUID()
  const refused = problem(new Refusal('invalid_request', { detail }), requestId)
  const body = JSON.stringify({ ...JSON.parse(refused.body), status })
  const { headers } = completeAnswer({ ...refused, body }, { method: 'GET' }, requestId)
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'))
}
