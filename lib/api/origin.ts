import { Refusal } from '#lib/model/errors'
import type { ApiRequest } from './exchange'
import type { Site } from './site'

type Asked = Pick<ApiRequest, 'headers'>

/**
 * Where a browser's request came from, when that is one of our own pages or no page at all: the public address, or the
 * host it asked for (by Host alone; no forwarding header counts). Refuses a page of anybody else with forbidden. What is
 * not a browser says nothing of its origin, and is let through.
 */
export function ownOrigin(site: Site, request: Asked): string {
  const { origin, host } = request.headers
  if (origin !== undefined) {
    if (origin === site.publicUrl || isOf(origin, host, site.publicUrl)) return origin
    throw foreign(`This was sent by a page of ${origin}`)
  }
  const from = request.headers['sec-fetch-site']
  if (from !== undefined && from !== 'same-origin' && from !== 'none')
    throw foreign('This was sent by a page of another site')
  return siteOrigin(site, request)
}

/** The origin that people see in their browser, as far as it can be known: the public address, else the host asked for. */
export const siteOrigin = ({ publicUrl }: Site, { headers: { host } }: Asked): string =>
  publicUrl ?? `http://${hostOf('http:', host) ?? 'localhost'}`

const foreign = (what: string) =>
  new Refusal('forbidden', {
    detail: `${what}, not of this Switchboard. Behind a proxy, SWITCHBOARD_PUBLIC_URL must be the address in the browser`,
  })

// A page of the public host under another scheme is not ours: somebody between may have written it.
function isOf(origin: string, host: string | undefined, publicUrl: string | null): boolean {
  if (!/^https?:\/\/[^/?#\\@]+$/.test(origin) || !URL.canParse(origin)) return false
  const { protocol, host: own, hostname } = new URL(origin)
  if (publicUrl && hostname === new URL(publicUrl).hostname) return false
  return own === hostOf(protocol, host)
}

// The port that belongs to the scheme may be written or left out.
function hostOf(protocol: string, host: string | undefined): string | null {
  if (!host || !/^[A-Za-z0-9.:[\]_-]+$/.test(host) || !URL.canParse(`${protocol}//${host}`)) return null
  return new URL(`${protocol}//${host}`).host
}
