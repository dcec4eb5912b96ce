import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { PersonCaller } from '#lib/wire/caller'

const HEADER = 'x-switchboard-visit'
const KEY = Symbol.for('switchboard.page-visit')

const shared = globalThis as unknown as Record<symbol, string | undefined>

// The web process's own modules and Next's are separate graphs; what they share hangs on globalThis.
function secret(): string {
  shared[KEY] ??= randomBytes(32).toString('base64url')
  return shared[KEY]
}

/**
 * Tells Next, in a request on its way there, who visits; the web process calls it after its gate has let the visitor in.
 * What a visitor sends under that name is overwritten. Null: nobody in particular, at a page for all.
 */
export function tellVisitor(headers: IncomingHttpHeaders, person: PersonCaller | null): void {
  delete headers[HEADER]
  if (person) headers[HEADER] = `${secret()}.${Buffer.from(JSON.stringify(person)).toString('base64url')}`
}

/** The person whom the web process let in. Under plain `next start` nobody stands at the gate, so nobody is. */
export function visitorOf(headers: Pick<Headers, 'get'>): PersonCaller | null {
  const [mark = '', person = ''] = (headers.get(HEADER) ?? '').split('.')
  const given = Buffer.from(mark)
  const wanted = Buffer.from(secret())
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null
  return JSON.parse(Buffer.from(person, 'base64url').toString('utf8'))
}
