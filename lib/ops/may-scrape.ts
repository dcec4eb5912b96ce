import { createHash, timingSafeEqual } from 'node:crypto'

/** Who wants to read the metrics. */
export interface Scraper {
  authorization: string | undefined
  /** Whether it is on this machine, with no proxy between. */
  isLoopback: boolean
}

/** Whether it may: with the token where there is one, otherwise only from this machine. */
export function mayScrape({ authorization = '', isLoopback }: Scraper, token: string | null): boolean {
  if (token === null) return isLoopback
  const [given, wanted] = [/^Bearer +(.*)$/i.exec(authorization)?.[1] ?? '', token].map(digest)
  return timingSafeEqual(given as Buffer, wanted as Buffer)
}

// Digests are of one length, as a comparison in constant time needs them.
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
