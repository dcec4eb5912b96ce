import { isIP } from 'node:net'
import type { ApiRequest } from './exchange'
import type { Site } from './site'

/**
 * The address a request came from: the socket's peer, or, where proxies are trusted, what the outermost of them heard.
 * Whatever a client writes into X-Forwarded-For itself stands further left and is never read. Null when unknown.
 */
export function clientAddress(
  { peer, headers }: Pick<ApiRequest, 'peer' | 'headers'>,
  { proxies }: Site,
): string | null {
  if (proxies === 0) return peer
  const heard = (headers['x-forwarded-for'] ?? '').split(',').map((address) => address.trim())
  const address = heard.at(-proxies)
  return address && isIP(address) !== 0 ? address : peer
}
