import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const HEADER = 'x-switchboard-visit'
const KEY = Symbol.for('switchboard.page-visit')

const shared = globalThis as unknown as Record<symbol, string | undefined>

// The web process's own modules and Next's are separate graphs; what they share hangs on globalThis.
function secret(): string {
  shared[KEY] ??= randomBytes(32).toString('base64url')
  return shared[KEY]
}

/**
 * Marks a request, on its way to Next, as one whose visitor may see the pages; the web process calls it after its gate
 * has let the visitor in. What a visitor sends under that name is overwritten.
 */
export function letIn(headers: IncomingHttpHeaders): void {
  headers[HEADER] = secret()
}

/** Whether the web process let this visitor in. Under plain `next start` nobody stands at the gate, so nobody is. */
export function isLetIn(headers: Pick<Headers, 'get'>): boolean {
  const given = Buffer.from(headers.get(HEADER) ?? '')
  const wanted = Buffer.from(secret())
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
