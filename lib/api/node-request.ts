import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '#lib/model/errors'
import { type ApiAnswer, type ApiRequest, MOST_BODY_BYTES, MOST_DROPPED_BYTES } from './exchange'
import { isLoopback } from './loopback'
import { tooLarge } from './read-body'
import { GONE, nodeSink } from './stream-sink'

/** Where a request goes: path and query as sent, also when a client sends the whole address. */
function targetOf({ url = '/' }: Pick<IncomingMessage, 'url'>): { path: string; query: string } {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  const [whole = ''] = target.split('#')
  const at = whole.indexOf('?')
  return at < 0 ? { path: whole || '/', query: '' } : { path: whole.slice(0, at) || '/', query: whole.slice(at + 1) }
}

/** A request of node:http as the dispatch takes it. */
export function apiRequest(req: IncomingMessage, res: ServerResponse): ApiRequest {
  let gone: AbortSignal | undefined
  return {
    method: req.method ?? 'GET',
    ...targetOf(req),
    headers: req.headers as Record<string, string | undefined>,
    body: () => collect(req),
    // Made only for what waits: most requests never ask.
    get signal() {
      gone ??= signalOf(res)
      return gone
    },
    loopback: isLoopback(req),
    peer: req.socket.remoteAddress ?? null,
  }
}

/** Sends an answer; a connection that is to end says so. */
export function send(
  res: ServerResponse,
  { status, headers, cookies, body, stream }: ApiAnswer,
  isLast: boolean,
): void {
  if (res.destroyed) {
    stream?.(GONE)
    return
  }
  if (cookies) res.setHeader('set-cookie', cookies)
  if (isLast) res.setHeader('connection', 'close')
  res.writeHead(status, headers)
  if (stream) stream(nodeSink(res))
  else res.end(body)
}

function signalOf(res: ServerResponse): AbortSignal {
  const controller = new AbortController()
  if (res.destroyed) controller.abort()
  res.once('close', () => {
    if (!res.writableFinished) controller.abort()
  })
  return controller.signal
}

function collect(req: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const refuse = () => {
      chunks.length = 0
      reject(tooLarge())
    }
    req.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MOST_BODY_BYTES) chunks.push(chunk)
      else if (size <= MOST_DROPPED_BYTES) refuse()
      else req.destroy()
    })
    req.once('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    const broken = () => reject(new Refusal('invalid_request', { detail: 'The body ended before it was complete' }))
    req.once('error', broken)
    req.once('close', broken)
    if (Number(req.headers['content-length'] ?? 0) > MOST_BODY_BYTES) refuse()
  })
}
