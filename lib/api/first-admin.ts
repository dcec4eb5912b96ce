import { inviteFirstAdmin } from '#lib/auth/invitations'
import type { Db } from '#lib/db/connect'
import { log } from '#lib/ops/log'
import type { Site } from './site'

/** How whoever started this process is told of the link. */
export interface FirstAdmin {
  type: 'first_admin'
  url: string
}

/**
 * Makes the one-time link by which somebody becomes the first admin, and tells it to whoever started us, else to the log;
 * nothing while there is an admin. `url` is where our own server listens.
 */
export async function inviteByLink(db: Db, { site, url }: { site: Site; url: string }): Promise<void> {
  const token = await inviteFirstAdmin(db).catch((error) => {
    log.warn({ err: error }, 'no link for a first admin could be made')
    return null
  })
  if (token === null) return
  const message: FirstAdmin = { type: 'first_admin', url: `${site.publicUrl ?? reachable(url)}/welcome/${token}` }
  if (process.connected && process.send) process.send(message)
  else log.info({ url: message.url }, 'open this once to become the first admin')
}

// A wildcard is no address to open: this machine reaches it through loopback.
const reachable = (url: string): string => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
